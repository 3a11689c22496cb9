/** The part of the HTTP API that a relay asks for keys, with the key in the test's hands: it can sign what the API never would. */
import { type CryptoKey, exportJWK, generateKeyPair } from "jose";
import { encodeBase64url } from "../../../proto/mod.ts";

export interface KeyServer extends AsyncDisposable {
  readonly url: string;
  /** A token of this account. `claims` is JSON text of further members, as it stands: `"exp":1e400`. */
  sign(account: string, claims?: string): Promise<string>;
}

const kid = "test";
const hourS = 3_600;

export async function startKeyServer(): Promise<KeyServer> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const keys = [{ ...await exportJWK(publicKey), kid, alg: "EdDSA", use: "sig" }];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/.well-known/jwks.json") return Response.json({ keys });
    return Response.json({ error: { code: "unavailable", message: "These tests need no quota" } }, { status: 503 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    sign: (account, claims) => sign(privateKey, account, claims),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** By hand, because a library refuses to write some of the numbers that an attacker may. */
async function sign(key: CryptoKey, account: string, claims?: string): Promise<string> {
  const nowS = Math.floor(Date.now() / 1_000);
  const part = (json: string): string => encodeBase64url(new TextEncoder().encode(json));
  const standard = `"sub":"${account}","plan":"free","iss":"static-api","iat":${nowS},"exp":${nowS + hourS}`;
  // The last of two members of one name counts.
  const body = `{${standard}${claims === undefined ? "" : `,${claims}`}}`;
  const signed = `${part(JSON.stringify({ alg: "EdDSA", typ: "JWT", kid }))}.${part(body)}`;
  const signature = await crypto.subtle.sign("Ed25519", key, new TextEncoder().encode(signed));
  return `${signed}.${encodeBase64url(new Uint8Array(signature))}`;
}
