/** Short-lived tokens for the relay: EdDSA (Ed25519), claims exactly `sub, plan, iss, iat, exp`. */
import { importJWK, SignJWT } from "jose";
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

/** `ring` is asked at every use, so that a rotated key file takes effect without a restart. */
export function createTokens({ ring, clock }: { ring: () => KeyRing; clock: Clock }): Tokens {
  const imported = new WeakMap<SigningKey, ReturnType<typeof importJWK>>();
  const importOnce = (key: SigningKey): ReturnType<typeof importJWK> => {
    const known = imported.get(key);
    if (known !== undefined) return known;
    const promise = importJWK({ kty: key.kty, crv: key.crv, x: key.x, d: key.d }, "EdDSA");
    imported.set(key, promise);
    return promise;
  };
  return {
    issue: async ({ accountId, plan }) => {
      const now = clock();
      const key = signingKey(ring(), now);
      const issuedAt = Math.floor(now / 1000);
      return await new SignJWT({
        sub: accountId,
        plan,
        iss: tokenIssuer,
        iat: issuedAt,
        exp: issuedAt + tokenLifetimeSeconds,
      }).setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: key.kid }).sign(await importOnce(key));
    },
    publicKeys: () => ({ keys: publishedKeys(ring(), clock()).map(publicJwk) }),
  };
}
