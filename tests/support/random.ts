/**
 * Seeded randomness for property tests and fuzzing, so that every failure can be repeated from the
 * printed seed.
 */

export interface Random {
  readonly seed: number;
  /** Uniform in [0, 2^32). */
  uint32(): number;
  /** Uniform in [0, bound). */
  below(bound: number): number;
  chance(probability: number): boolean;
  bytes(length: number): Uint8Array<ArrayBuffer>;
  pick<T>(items: readonly T[]): T;
}

/**
 * sfc32, seeded by four rounds of splitmix32: small, fast, and good enough to explore inputs; not
 * for secrets.
 */
export function createRandom(seed: number): Random {
  let [a, b, c, counter] = [splitmix32(seed), splitmix32(seed + 1), splitmix32(seed + 2), 1];
  const uint32 = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) uint32();
  const below = (bound: number): number => Math.floor(uint32() / 2 ** 32 * bound);
  return {
    seed,
    uint32,
    below,
    chance: (probability) => uint32() / 2 ** 32 < probability,
    bytes: (length) => {
      const bytes = new Uint8Array(length);
      for (let i = 0; i < length; i++) bytes[i] = uint32();
      return bytes;
    },
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("Cannot pick from an empty list");
      return item;
    },
  };
}

/** `STATIC_TEST_SEED` repeats a failed run; otherwise every run explores something new. */
export function seedFromEnvironment(): number {
  const given = Deno.env.get("STATIC_TEST_SEED");
  return given === undefined
    ? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
    : Number(given) >>> 0;
}

function splitmix32(seed: number): number {
  let z = (seed + 0x9e3779b9) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return z ^ (z >>> 15);
}
