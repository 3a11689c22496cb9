/**
 * The keys that sign tokens or badges, and when each one does what. A new key is published at once
 * but signs only from `sign_from`, when every verifier has had time to fetch it; the key it
 * replaces stays published until all that it signed has expired. Time alone moves a ring on, so a
 * rotation is one command and every process that reads the same ring agrees.
 */
import { z } from "zod";
import { isKeyName, maxIssuerKeys } from "../../proto/mod.ts";

export const tokenLifetimeSeconds = 3600;
export const badgeLifetimeSeconds = 30 * 24 * 3600;
/** How long verifiers may keep the published set before they ask again. */
export const jwksMaxAgeSeconds = 300;
/** Beyond the end of what a key signed last, for verifiers that tolerate clock differences. */
const retirementMarginSeconds = 60;

/** A ring of keys by what its keys sign. */
export interface RingUse {
  readonly what: "tokens" | "badges";
  /** How long a token or badge that a key signs is valid. */
  readonly lifetimeSeconds: number;
  /**
   * How long a key is published before it signs. Twice the time after which verifiers ask again, so
   * that one that just missed the new key has asked again before it signs.
   */
  readonly leadSeconds: number;
  /** The most keys that verifiers take. */
  readonly maxPublished: number;
}

export const tokenUse: RingUse = {
  what: "tokens",
  lifetimeSeconds: tokenLifetimeSeconds,
  leadSeconds: 2 * jwksMaxAgeSeconds,
  maxPublished: 16,
};

/** Agents and hosts ask for an issuer's document once a day. */
export const badgeUse: RingUse = {
  what: "badges",
  lifetimeSeconds: badgeLifetimeSeconds,
  leadSeconds: 2 * 24 * 3600,
  maxPublished: maxIssuerKeys,
};

const jwk = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  kid: z.string().min(1).max(128),
  x: z.string().regex(/^[\w-]{43}$/),
  d: z.string().regex(/^[\w-]{43}$/),
  /** Ours: seconds since 1970; absent means "always". Other software ignores it. */
  sign_from: z.int().min(0).optional(),
  /**
   * For a badge key: the older key that says that this one is its successor, and how it says so.
   */
  endorsed_by: z.string().min(1).max(128).optional(),
  endorsement: z.string().regex(/^[\w-]{86}$/).optional(),
});

const listOf = (key: typeof jwk, max: number): z.ZodType<z.infer<typeof jwk>[]> =>
  z.array(key).min(1).max(max).refine(
    (keys) => new Set(keys.map(({ kid }) => kid)).size === keys.length,
    "two keys have the same kid",
  );
const badgeKey = jwk.extend({
  kid: z.string().refine(isKeyName, "must have 1 to 64 letters, digits, dots, hyphens"),
});

/**
 * Private keys, newest first, as in `STATIC_JWT_KEYS`: a JWK set, whose keys sign tokens, with a
 * second set of keys that sign badges. Without it, the service issues none.
 */
export const keyRings = z.object({
  keys: listOf(jwk, tokenUse.maxPublished),
  badge_keys: listOf(badgeKey, badgeUse.maxPublished).optional(),
});

export type SigningKey = z.infer<typeof jwk>;
export type KeyRings = z.infer<typeof keyRings>;
export interface KeyRing {
  readonly keys: readonly SigningKey[];
}

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

/** Every key except those of which all that they signed has expired. */
export function publishedKeys(
  { keys }: KeyRing,
  { lifetimeSeconds }: RingUse,
  nowMs: number,
): readonly SigningKey[] {
  return keys.filter((_, index) => {
    const successor = keys.slice(0, index).findLast(({ sign_from }) => sign_from !== undefined);
    if (successor?.sign_from === undefined) return true;
    return nowMs < (successor.sign_from + lifetimeSeconds + retirementMarginSeconds) * 1000;
  });
}

/** The public half, as `/.well-known/jwks.json` shows it. */
export function publicJwk({ kty, crv, kid, x }: SigningKey): Record<string, string> {
  return { kty, crv, kid, x, alg: "EdDSA", use: "sig" };
}

/**
 * The ring with `fresh` in front, published now and signing later; keys that are retired by now are
 * dropped. Undefined when that would be more keys than verifiers take.
 */
export function rotateKeyRing(
  ring: KeyRing,
  { fresh, use, nowMs }: {
    readonly fresh: SigningKey;
    readonly use: RingUse;
    readonly nowMs: number;
  },
): KeyRing | undefined {
  const [oldest, ...newer] = publishedKeys(ring, use, nowMs).toReversed();
  if (oldest === undefined) throw new TypeError("A key ring always has a published key");
  if (newer.length + 2 > use.maxPublished) return undefined;
  // The oldest key left has nobody before it: it signs from the start.
  const { sign_from: _, ...first } = oldest;
  const signFromSeconds = Math.ceil(nowMs / 1000) + use.leadSeconds;
  return { keys: [{ ...fresh, sign_from: signFromSeconds }, ...newer.toReversed(), first] };
}
