/** Short-lived tokens for the relay: EdDSA (Ed25519), claims exactly `sub, plan, iss, iat, exp`. */
import { base64url, importJWK } from "jose";
import type { Caller } from "./authentication.ts";
import {
  type KeyRing,
  publicJwk,
  publishedKeys,
  type SigningKey,
  signingKey,
  tokenLifetimeSeconds,
} from "./key_ring.ts";
import type { Clock } from "./ports.ts";

export const tokenIssuer = "static-api";

export interface Tokens {
  issue(caller: Caller): Promise<string>;
  publicKeys(): { keys: readonly Record<string, string>[] };
}

/** A signing key ready for use: imported once, its header encoded once. */
interface Signer {
  readonly header: string;
  readonly key: Promise<CryptoKey>;
}

/** `ring` is asked at every use, so that a rotated key file takes effect without a restart. */
export function createTokens({ ring, clock }: { ring: () => KeyRing; clock: Clock }): Tokens {
  const signers = new WeakMap<SigningKey, Signer>();
  const signerOf = (key: SigningKey): Signer => {
    const known = signers.get(key);
    if (known !== undefined) return known;
    const signer = {
      header: encodePart({ alg: "EdDSA", typ: "JWT", kid: key.kid }),
      key: importSigningKey(key),
    };
    signers.set(key, signer);
    return signer;
  };
  return {
    issue: async ({ accountId, plan }) => {
      const now = clock();
      const { header, key } = signerOf(signingKey(ring(), now));
      const iat = Math.floor(now / 1000);
      const claims = { sub: accountId, plan, iss: tokenIssuer, iat, exp: iat + tokenLifetimeSeconds };
      // Put together here: a general library spends as long on checking claims that are right by construction as on signing.
      const signed = `${header}.${encodePart(claims)}`;
      const signature = await crypto.subtle.sign("Ed25519", await key, encoder.encode(signed));
      return `${signed}.${base64url.encode(new Uint8Array(signature))}`;
    },
    publicKeys: () => ({ keys: publishedKeys(ring(), clock()).map(publicJwk) }),
  };
}

const encoder = new TextEncoder();

function encodePart(part: object): string {
  return base64url.encode(JSON.stringify(part));
}

async function importSigningKey({ kty, crv, x, d }: SigningKey): Promise<CryptoKey> {
  const key = await importJWK({ kty, crv, x, d }, "EdDSA");
  if (key instanceof Uint8Array) throw new TypeError("An Ed25519 key was imported as a symmetric one");
  return key;
}
