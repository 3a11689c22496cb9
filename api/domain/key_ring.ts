/**
 * The keys that sign tokens, and when each one does what. A new key is published at once but signs
 * only from `signFrom`, when every verifier has had time to fetch it; the key it replaces stays
 * published until its last token has expired. Time alone moves a ring on, so a rotation is one
 * command and every process that reads the same ring agrees.
 */
import { z } from "zod";

export const tokenLifetimeSeconds = 3600;
/** How long verifiers may keep the published set before they ask again. */
export const jwksMaxAgeSeconds = 300;
/**
 * Twice the caching time, so that a verifier that just missed the new key has asked again before it
 * signs.
 */
export const publishLeadSeconds = 2 * jwksMaxAgeSeconds;
/** Beyond the last token's `exp`, for verifiers that tolerate clock differences. */
const retirementMarginSeconds = 60;

const jwk = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  kid: z.string().min(1).max(128),
  x: z.string().regex(/^[\w-]{43}$/),
  d: z.string().regex(/^[\w-]{43}$/),
  /** Ours: seconds since 1970; absent means "always". Other software ignores it. */
  sign_from: z.int().min(0).optional(),
});

/** A private JWK set, newest key first, as in `STATIC_JWT_KEYS`. */
export const keyRing = z.object({ keys: z.array(jwk).min(1).max(16) })
  .refine(
    ({ keys }) => new Set(keys.map(({ kid }) => kid)).size === keys.length,
    "two keys have the same kid",
  );

export type SigningKey = z.infer<typeof jwk>;
export type KeyRing = z.infer<typeof keyRing>;

/**
 * The first key whose time has come. Before the time of any, the last one: its predecessor was
 * taken out by hand, because it leaked, and must stop at once; verifiers then fetch the new key
 * when they first see it.
 */
export function signingKey({ keys }: KeyRing, nowMs: number): SigningKey {
  const key = keys.find(({ sign_from }) => (sign_from ?? 0) * 1000 <= nowMs) ?? keys.at(-1);
  if (key === undefined) {
    throw new TypeError("A key ring without a key that may sign passed its parser");
  }
  return key;
}

/** Every key except those whose last token has expired. */
export function publishedKeys({ keys }: KeyRing, nowMs: number): readonly SigningKey[] {
  return keys.filter((_, index) => {
    const successor = keys.slice(0, index).findLast(({ sign_from }) => sign_from !== undefined);
    return successor?.sign_from === undefined || nowMs < retiredAtMs(successor.sign_from);
  });
}

/** The public half, as `/.well-known/jwks.json` shows it. */
export function publicJwk({ kty, crv, kid, x }: SigningKey): Record<string, string> {
  return { kty, crv, kid, x, alg: "EdDSA", use: "sig" };
}

/**
 * The ring with `fresh` in front, published now and signing later; keys that are retired by now are
 * dropped.
 */
export function rotateKeyRing(ring: KeyRing, fresh: SigningKey, nowMs: number): KeyRing {
  const signFromSeconds = Math.ceil(nowMs / 1000) + publishLeadSeconds;
  const [oldest, ...newer] = publishedKeys(ring, nowMs).toReversed();
  if (oldest === undefined) throw new TypeError("A key ring always has a published key");
  // The oldest key left has nobody before it: it signs from the start.
  const { sign_from: _, ...first } = oldest;
  return keyRing.parse({
    keys: [{ ...fresh, sign_from: signFromSeconds }, ...newer.toReversed(), first],
  });
}

function retiredAtMs(successorSignsFromSeconds: number): number {
  return (successorSignsFromSeconds + tokenLifetimeSeconds + retirementMarginSeconds) * 1000;
}
