import { assert, assertEquals, assertThrows } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { apiKeyPattern, encodeApiKey, encodeBase62, parseApiKey } from "./api_key.ts";

/**
 * Golden (checksum computed with another implementation of CRC-32): the form is published for
 * secret scanners, so it may never change.
 */
const golden = encodeApiKey({ environment: "live", lookup: "A".repeat(8), secret: "b".repeat(32) });

Deno.test("encodeApiKey() makes the frozen text form", () => {
  assertEquals(golden, "sk_live_AAAAAAAAbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0s2ROk");
});

Deno.test("parseApiKey() reads back both environments", () => {
  assertEquals(parseApiKey(golden), { environment: "live", keyPrefix: "sk_live_AAAAAAAA" });
  const test = encodeApiKey({ environment: "test", lookup: "01234567", secret: "Z".repeat(32) });
  assertEquals(parseApiKey(test), { environment: "test", keyPrefix: "sk_test_01234567" });
});

Deno.test("parseApiKey() refuses every change of a single character", () => {
  for (let i = 0; i < golden.length; i++) {
    const other = golden.charAt(i) === "x" ? "y" : "x";
    assertEquals(
      parseApiKey(golden.slice(0, i) + other + golden.slice(i + 1)),
      undefined,
      `position ${i}`,
    );
  }
});

Deno.test("parseApiKey() refuses truncation, extension, white space and a swapped environment", () => {
  for (let length = 0; length < golden.length; length++) {
    assertEquals(parseApiKey(golden.slice(0, length)), undefined);
  }
  for (
    const text of [
      `${golden}A`,
      ` ${golden}`,
      `${golden}\n`,
      golden.replace("live", "test"),
      "x".repeat(1e6),
    ]
  ) {
    assertEquals(parseApiKey(text), undefined);
  }
});

Deno.test("encodeApiKey() refuses parts of a wrong length or alphabet", () => {
  const secret = "b".repeat(32);
  assertThrows(
    () => encodeApiKey({ environment: "live", lookup: "short", secret }),
    RangeError,
    "wrong form",
  );
  assertThrows(
    () => encodeApiKey({ environment: "live", lookup: "AAAA-AAA", secret }),
    RangeError,
    "wrong form",
  );
});

Deno.test("encodeBase62() is uniform over its alphabet and asks for more bytes instead of bending", () => {
  const random = createRandom(seedFromEnvironment());
  const counts = new Map<string, number>();
  const text = encodeBase62(random.bytes(80_000), 62_000) ?? "";
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  // Chi-squared with 61 degrees of freedom: above 120 happens by chance once in 100,000 runs.
  const chiSquared = [...counts.values()].reduce(
    (sum, count) => sum + (count - 1000) ** 2 / 1000,
    0,
  );
  assert(counts.size === 62 && chiSquared < 120, `seed ${random.seed}: chi squared ${chiSquared}`);
  assertEquals(encodeBase62(new Uint8Array(8).fill(248), 1), undefined);
  assertEquals(encodeBase62(new Uint8Array(3), 4), undefined);
});

Deno.test("apiKeyPattern finds a key inside other text", () => {
  assertEquals(new RegExp(apiKeyPattern).exec(`key=${golden};`)?.[0], golden);
});
