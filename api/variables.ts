/** Variables of types that only the API has. */
import type { VariableReader } from "../server/mod.ts";
import type { RateLimit } from "./domain/rate_limit.ts";
import type { Argon2Profile } from "./hashing/argon2.ts";

/** `m=19456,t=2,p=1`. */
export function readProfile(
  read: VariableReader,
  name: string,
  fallback: Argon2Profile,
): Argon2Profile {
  const expected = "m=<KiB>,t=<iterations>,p=<lanes>, for example m=19456,t=2,p=1";
  return read.parsed(name, fallback, { parse: parseProfile, expected });
}

/** `20/3600`: twenty in an hour. */
export function readRate(read: VariableReader, name: string, fallback: RateLimit): RateLimit {
  return read.parsed(name, fallback, {
    parse: parseRate,
    expected: "<requests>/<seconds>, for example 20/3600",
  });
}

/** Argon2 needs eight KiB per lane. */
function parseProfile(text: string): Argon2Profile | undefined {
  const [, memory, iterations, lanes] = /^m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})$/.exec(text) ?? [];
  const profile = {
    memoryKiB: Number(memory),
    iterations: Number(iterations),
    parallelism: Number(lanes),
  };
  const { memoryKiB, parallelism } = profile;
  return parallelism >= 1 && profile.iterations >= 1 && memoryKiB >= 8 * parallelism
    ? profile
    : undefined;
}

function parseRate(text: string): RateLimit | undefined {
  const [, limit, seconds] = /^(\d{1,9})\/(\d{1,6})$/.exec(text) ?? [];
  return Number(limit) > 0 && Number(seconds) > 0
    ? { limit: Number(limit), windowMs: Number(seconds) * 1000 }
    : undefined;
}
