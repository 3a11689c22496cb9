/**
 * Short-lived tokens for the relay: EdDSA (Ed25519), claims exactly `sub, plan, iss, iat, exp`, and `static` for those that may
 * do less than everything or are counted apart.
 */
import { formatTokenGrant, type TokenGrant } from "../../proto/mod.ts";
import type { Caller } from "./authentication.ts";
import {
  type KeyRing,
  publicJwk,
  publishedKeys,
  type SigningKey,
  signingKey,
  tokenLifetimeSeconds,
} from "./key_ring.ts";
import type { Clock } from "./deps.ts";

const tokenIssuer = "static-api";

export interface Tokens {
  issue(caller: Pick<Caller, "accountId" | "plan">, grant?: TokenGrant): string;
  publicKeys(): { keys: readonly Record<string, string>[] };
}

/** Ed25519 with one key. */
export type Sign = (bytes: Uint8Array) => Uint8Array;

export interface TokensDeps {
  /** Asked at every use, so that a rotated key file takes effect without a restart. */
  readonly ring: () => KeyRing;
  readonly createSign: (key: SigningKey) => Sign;
  readonly clock: Clock;
}

/** A signing key ready for use: imported once, its header encoded once. */
interface Signer {
  readonly header: string;
  readonly sign: Sign;
}

export function createTokens({ ring, createSign, clock }: TokensDeps): Tokens {
  const signers = new WeakMap<SigningKey, Signer>();
  const signerOf = (key: SigningKey): Signer => {
    const known = signers.get(key);
    if (known !== undefined) return known;
    const signer = { header: encodePart({ alg: "EdDSA", typ: "JWT", kid: key.kid }), sign: createSign(key) };
    signers.set(key, signer);
    return signer;
  };
  return {
    issue: ({ accountId, plan }, grant) => {
      const nowMs = clock();
      const { header, sign } = signerOf(signingKey(ring(), nowMs));
      const iat = Math.floor(nowMs / 1000);
      const claims = { sub: accountId, plan, iss: tokenIssuer, iat, exp: iat + tokenLifetimeSeconds };
      const all = grant === undefined ? claims : { ...claims, static: formatTokenGrant(grant) };
      // Put together here: a general library spends as long on checking claims that are right by construction as on signing.
      const signed = `${header}.${encodePart(all)}`;
      return `${signed}.${base64url(sign(encoder.encode(signed)))}`;
    },
    publicKeys: () => ({ keys: publishedKeys(ring(), clock()).map(publicJwk) }),
  };
}

const encoder = new TextEncoder();

function encodePart(part: object): string {
  return base64url(encoder.encode(JSON.stringify(part)));
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
