/**
 * The API's public keys, by `kid`. Known keys keep working while the API is away; a successful
 * fetch replaces the whole set, so a key that was withdrawn stops verifying: after five minutes at
 * the latest, also on a relay where nobody asked meanwhile. An unknown `kid` asks the API once for
 * everybody who waits, and at most once per interval, so that a flood of invented ids costs next to
 * nothing.
 */
import { importJWK } from "jose";
import { z } from "zod";

export interface TokenKeys {
  /**
   * The key, or undefined when the API has none of this id. Throws `KeysUnavailable` when that
   * cannot be known.
   */
  find(kid: string): Promise<CryptoKey | undefined>;
}

/** The API was needed to judge a token and did not answer. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

export interface TokenKeysDeps {
  /** The API's JWK set, as it came; rejects when it cannot be had. */
  readonly fetchKeySet: () => Promise<unknown>;
  readonly nowMs: () => number;
  /** A refresh has failed; the keys at hand stay in use. */
  readonly onFailedRefresh: (error: unknown) => void;
}

/**
 * How long keys are fresh: the API allows its answer to be kept for so long. Beyond this nobody is
 * let in before the API was asked.
 */
const freshMs = 300_000;
/** From here on it is asked while nobody waits, so that on a busy relay nobody ever does. */
const renewMs = freshMs / 2;
/** Between two questions to the API, whatever clients send. */
const minIntervalMs = 5_000;
const maxKeys = 64;

const keySet = z.object({
  keys: z.array(z.looseObject({ kid: z.string().min(1).max(128).optional() })).max(maxKeys),
});
const ed25519Key = z.object({
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  kid: z.string(),
  x: z.string().regex(/^[\w-]{43}$/),
});

export function createTokenKeys({ fetchKeySet, nowMs, onFailedRefresh }: TokenKeysDeps): TokenKeys {
  let keys: ReadonlyMap<string, CryptoKey> = new Map();
  let fetchedAtMs = -Infinity;
  let triedAtMs = -Infinity;
  let lastFailure: unknown;
  let underWay: Promise<void> | undefined;

  const refresh = (): Promise<void> => {
    underWay ??= (async () => {
      triedAtMs = nowMs();
      try {
        keys = await parseKeySet(await fetchKeySet());
        fetchedAtMs = nowMs();
        lastFailure = undefined;
      } catch (error) {
        lastFailure = error;
        throw new KeysUnavailable("Cannot fetch the keys that verify tokens from the API", {
          cause: error,
        });
      } finally {
        underWay = undefined;
      }
    })();
    return underWay;
  };
  // Also before the last time: then the clock was set back.
  const mayAsk = (): boolean =>
    underWay !== undefined || nowMs() - triedAtMs >= minIntervalMs || nowMs() < triedAtMs;

  return {
    find: async (kid) => {
      const known = keys.get(kid);
      if (known !== undefined) {
        const ageMs = nowMs() - fetchedAtMs;
        // A negative age: the clock was set back, so the age means nothing.
        const stale = ageMs >= freshMs || ageMs < 0;
        if (!(stale || ageMs >= renewMs) || !mayAsk()) return known;
        const asked = underWay === undefined
          ? refresh().catch(onFailedRefresh)
          : underWay.catch(() => {});
        if (!stale) return known;
        await asked;
        return keys.get(kid);
      }
      if (mayAsk()) {
        await refresh();
      } else if (lastFailure !== undefined) {
        throw new KeysUnavailable("Cannot fetch the keys that verify tokens from the API", {
          cause: lastFailure,
        });
      }
      return keys.get(kid);
    },
  };
}

/** Keys of other kinds are none of ours; a set that is not a set is a fault of the API. */
async function parseKeySet(json: unknown): Promise<ReadonlyMap<string, CryptoKey>> {
  const keys = new Map<string, CryptoKey>();
  for (const candidate of keySet.parse(json).keys) {
    const { data: jwk } = ed25519Key.safeParse(candidate);
    if (jwk === undefined) continue;
    const key = await importJWK({ kty: jwk.kty, crv: jwk.crv, x: jwk.x }, "EdDSA");
    if (key instanceof CryptoKey) keys.set(jwk.kid, key);
  }
  return keys;
}
