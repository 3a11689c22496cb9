/**
 * Short-lived tokens for the relay: EdDSA (Ed25519), claims exactly `sub, plan, iss, iat, exp`, and
 * `static` for those that may do less than everything or are counted apart. The header of those
 * names the claim as critical (RFC 7515, 4.1.11): a relay from before it refuses the token instead
 * of letting its bearer do everything.
 *
 * A signature of Ed25519 depends on nothing but its key and its text, and times are whole seconds:
 * those who ask within one second with the same account and rights get the same token whatever is
 * done, so it is signed once. After an outage all agents of an account come at the same moment, and
 * the signature is a third of what a token costs.
 */
import { formatTokenGrant, narrowTokenHeader, type TokenGrant } from "../../proto/mod.ts";
import type { Caller } from "./authentication.ts";
import {
  type KeyRing,
  publicJwk,
  publishedKeys,
  type SigningKey,
  signingKey,
  tokenLifetimeSeconds,
  tokenUse,
} from "./key_ring.ts";
import type { Clock } from "./deps.ts";

const tokenIssuer = "static-api";

export interface Tokens {
  issue(caller: Pick<Caller, "accountId" | "plan">, grant?: TokenGrant): string;
  publicKeys(): { keys: readonly Record<string, string>[] };
}

/** Ed25519 with one key. */
export type SigningFunction = (bytes: Uint8Array) => Uint8Array;

export interface TokensDeps {
  /** Asked at every use, so that a rotated key file takes effect without a restart. */
  readonly ring: () => KeyRing;
  readonly createSign: (key: SigningKey) => SigningFunction;
  readonly clock: Clock;
}

/** A signing key ready for use: imported once, its header encoded once. */
interface Signer {
  readonly header: string;
  /** The header of a token with the claim `static`. */
  readonly narrowHeader: string;
  readonly sign: SigningFunction;
}

/** Tokens of the present second that are kept; others are signed again. */
const maxKept = 1_000;

export function createTokens({ ring, createSign, clock }: TokensDeps): Tokens {
  const signers = new WeakMap<SigningKey, Signer>();
  /** Tokens that one key signed in one second, by account, plan and rights. */
  let kept: { iat: number; sign?: SigningFunction; tokens: Map<string, string> } = {
    iat: 0,
    tokens: new Map(),
  };
  const signerOf = (key: SigningKey): Signer => {
    const known = signers.get(key);
    if (known !== undefined) return known;
    const header = { alg: "EdDSA", typ: "JWT", kid: key.kid };
    const narrow = { ...header, crit: [narrowTokenHeader], [narrowTokenHeader]: 1 };
    const signer = {
      header: encodePart(header),
      narrowHeader: encodePart(narrow),
      sign: createSign(key),
    };
    signers.set(key, signer);
    return signer;
  };
  return {
    issue: ({ accountId, plan }, grant) => {
      const nowMs = clock();
      const { header, narrowHeader, sign } = signerOf(signingKey(ring(), nowMs));
      const iat = Math.floor(nowMs / 1000);
      if (kept.iat !== iat || kept.sign !== sign) kept = { iat, sign, tokens: new Map() };
      const narrowing = grant === undefined ? {} : { static: formatTokenGrant(grant) };
      const holder = `${accountId} ${plan} ${grant === undefined ? "" : JSON.stringify(narrowing)}`;
      const known = kept.tokens.get(holder);
      if (known !== undefined) return known;
      // Put together here: a general library spends as long on checking claims that are right by
      // construction as on signing.
      const claims = {
        sub: accountId,
        plan,
        iss: tokenIssuer,
        iat,
        exp: iat + tokenLifetimeSeconds,
        ...narrowing,
      };
      const signed = `${grant === undefined ? header : narrowHeader}.${encodePart(claims)}`;
      const token = `${signed}.${base64url(sign(encoder.encode(signed)))}`;
      if (kept.tokens.size < maxKept) kept.tokens.set(holder, token);
      return token;
    },
    publicKeys: () => ({ keys: publishedKeys(ring(), tokenUse, clock()).map(publicJwk) }),
  };
}

const encoder = new TextEncoder();

function encodePart(part: object): string {
  return base64url(encoder.encode(JSON.stringify(part)));
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
