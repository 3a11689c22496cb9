import { assert, assertEquals, assertThrows } from "@std/assert";
import { readVectors, testWhen, vectors } from "../../tests/support/mod.ts";
import { type CborValue, decodeCbor, decodeOwnCbor, encodeCbor } from "./cbor.ts";
import { WireError } from "./errors.ts";
import { limits } from "./limits.ts";

function hex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.replaceAll(" ", "").match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

const accepted: readonly [hex: string, value: CborValue][] = [
  ["00", 0],
  ["17", 23],
  ["1818", 24],
  ["1a00010000", 65536],
  ["1b001fffffffffffff", Number.MAX_SAFE_INTEGER],
  ["20", -1],
  ["f4", false],
  ["f5", true],
  ["f6", null],
  ["43010203", Uint8Array.of(1, 2, 3)],
  ["3b001ffffffffffffe", -Number.MAX_SAFE_INTEGER],
  ["63e282ac", "€"],
  ["63efbbbf", "\ufeff"],
  ["83010203", [1, 2, 3]],
  ["a201020304", new Map([[1, 2], [3, 4]])],
];

for (const [text, value] of accepted) {
  Deno.test(`CBOR ${text} decodes and encodes back to the same bytes`, () => {
    assertEquals(decodeCbor(hex(text)), value);
    assertEquals(encodeCbor(value), hex(text));
  });
}

const refused: readonly [why: string, hex: string][] = [
  ["nothing at all", ""],
  ["trailing bytes", "0000"],
  ["an integer longer than needed", "1800"],
  ["a length longer than needed", "580101"],
  ["an integer of 2^53", "1b0020000000000000"],
  ["a negative integer below -2^53", "3b0020000000000000"],
  ["a negative integer of -2^53", "3b001fffffffffffff"],
  ["an indefinite byte string", "5f4101ff"],
  ["an indefinite text", "7f6161ff"],
  ["an indefinite array", "9f01ff"],
  ["an indefinite map", "bf0102ff"],
  ["a break without a beginning", "ff"],
  ["a tag", "c000"],
  ["half a float", "f90000"],
  ["a float", "fa47c35000"],
  ["a double", "fb3ff199999999999a"],
  ["undefined", "f7"],
  ["another simple value", "f0"],
  ["a simple value in two bytes", "f8ff"],
  ["a repeated key", "a201020103"],
  ["keys out of order", "a203040102"],
  ["a text that is not UTF-8", "61ff"],
  ["a text with half a surrogate pair", "63eda080"],
  ["a byte string beyond the end", "4401"],
  ["an array beyond the end", "8201"],
  ["a map without its last value", "a101"],
  ["an array that claims 2^32 items", "9b0000000100000000"],
  ["a reserved additional value", "1c"],
];

for (const [why, text] of refused) {
  Deno.test(`decodeCbor() refuses ${why}`, () => {
    assertEquals(assertThrows(() => decodeCbor(hex(text)), WireError).code, "protocol_error");
  });
}

Deno.test("texts of every length and kind around the short ones come back, and broken ones do not", () => {
  for (let length = 0; length < 130; length++) {
    const ascii = String.fromCharCode(...Array.from({ length }, (_, i) => (i * 7 + length) % 128));
    for (const text of [ascii, `\uFEFF${ascii}`, `${ascii}é`, `${ascii}\u{1F600}`]) {
      assertEquals(decodeCbor(encodeCbor(text)), text);
    }
    const broken = encodeCbor(`${ascii}é`).slice();
    broken[broken.length - 1] = 0x20;
    assertThrows(() => decodeCbor(broken), WireError, "text is not UTF-8");
  }
});

Deno.test("integers and lengths have their shortest head on both sides of every step", () => {
  const steps = [[24, 1, 2], [2 ** 8, 2, 3], [2 ** 16, 3, 5], [2 ** 32, 5, 9]] as const;
  for (const [step, below, from] of steps) {
    for (
      const [value, size] of [[step - 1, below], [-step, below], [step, from], [
        -step - 1,
        from,
      ]] as const
    ) {
      assertEquals([encodeCbor(value).length, decodeCbor(encodeCbor(value))], [size, value]);
    }
    if (step > 2 ** 16) continue;
    for (const [length, size] of [[step - 1, below], [step, from]] as const) {
      for (
        const value of [new Uint8Array(length), "x".repeat(length), "é".repeat(length / 2 | 0)]
      ) {
        const bytes = encodeCbor(value);
        assertEquals(decodeCbor(bytes), value);
        if (value.length === length) assertEquals(bytes.length, size + length);
      }
    }
  }
});

Deno.test("encodeCbor() writes keys in bytewise order, however they were set and whatever they are", () => {
  const keys: CborValue[] = ["b", -1, 300, "aa", Uint8Array.of(1), 5, null, "a", 24, [1]];
  const value = new Map(keys.map((key, index) => [key, index]));
  const decoded = decodeCbor(encodeCbor(value));
  assert(decoded instanceof Map);
  assertEquals([...decoded.keys()], [5, 24, 300, -1, Uint8Array.of(1), "a", "b", "aa", [1], null]);
});

Deno.test("decodeCbor() accepts the allowed depth and refuses one more", () => {
  const nested = (depth: number): Uint8Array => {
    const bytes = new Uint8Array(depth + 1).fill(0x81);
    bytes[depth] = 0;
    return bytes;
  };
  assert(Array.isArray(decodeCbor(nested(limits.cborDepth))));
  assertThrows(() => decodeCbor(nested(limits.cborDepth + 1)), WireError, "nested deeper");
  assertThrows(() => decodeCbor(nested(1_000_000)), WireError);
});

Deno.test("decodeCbor() refuses more items than any envelope has, before it builds them", () => {
  const list = (count: number): Uint8Array =>
    Uint8Array.of(0x99, count >> 8, count, ...new Uint8Array(count));
  assert(Array.isArray(decodeCbor(list(limits.cborItems - 1))));
  assertThrows(() => decodeCbor(list(limits.cborItems)), WireError, "items");
  assert(
    Array.isArray(decodeOwnCbor(list(limits.cborItems))),
    "in a record of our own there may be more",
  );
  const bomb = new Uint8Array(2_000_000).fill(0xa0);
  bomb.set([0x9a, 0, 0x1e, 0x84, 0x7b]);
  assertThrows(() => decodeCbor(bomb), WireError, "items");
});

Deno.test("decodeCbor() refuses input above its limit before looking at it", () => {
  const error = assertThrows(() => decodeCbor(new Uint8Array(11), 10), WireError);
  assertEquals(error.code, "payload_too_large");
});

interface AppendixCase {
  readonly hex: string;
  /** False for every encoding that is not the deterministic one, indefinite lengths among them. */
  readonly roundtrip: boolean;
  readonly decoded?: unknown;
}

/**
 * The contract has no floats, tags, undefined or other simple values, and no integers beyond 2^53 -
 * 1.
 */
function allowedByRule({ hex: text, roundtrip }: AppendixCase): boolean {
  const [first = 0, second = 0, third = 0] = hex(text);
  const [major, additional] = [first >> 5, first & 0x1f];
  if (major === 7) return first >= 0xf4 && first <= 0xf6;
  const big = major <= 1 && additional === 27 && (second > 0 || third > 0x1f);
  return roundtrip && major !== 6 && !big;
}

testWhen(
  vectors("cbor/appendix_a.json"),
  "RFC 8949 appendix A decodes or is refused by rule",
  () => {
    const cases = readVectors("cbor/appendix_a.json") as AppendixCase[];
    const allowed = cases.filter(allowedByRule);
    assert(
      allowed.length === 35 && cases.length === 82,
      `${allowed.length} of ${cases.length} are allowed`,
    );
    for (const test of cases) {
      const bytes = hex(test.hex);
      if (allowed.includes(test)) {
        const value = decodeCbor(bytes);
        assertEquals(encodeCbor(value), bytes, test.hex);
        if (test.decoded !== undefined) assertEquals(plain(value), test.decoded, test.hex);
      } else {
        assertEquals(
          assertThrows(() => decodeCbor(bytes), WireError).code,
          "protocol_error",
          test.hex,
        );
      }
    }
  },
);

/** Maps as objects, as the JSON of the vectors has them. */
function plain(value: CborValue): unknown {
  if (value instanceof Map) {
    return Object.fromEntries(Array.from(value, ([key, item]) => [String(key), plain(item)]));
  }
  if (Array.isArray(value)) return value.map(plain);
  return value;
}
