import { assert, assertEquals } from "@std/assert";
import { equalBytes } from "../../proto/mod.ts";
import {
  afterPrefix,
  compareBytes,
  concat,
  decodeUint,
  encodeUint,
  Scratch,
  utf8,
} from "./bytes.ts";

Deno.test("encodeUint() is big-endian and exact up to the largest safe integer", () => {
  assertEquals(encodeUint(0x0102, 2), new Uint8Array([1, 2]));
  for (
    const value of [
      0,
      1,
      255,
      256,
      2 ** 31,
      2 ** 32 - 1,
      2 ** 32,
      2 ** 40 + 7,
      Number.MAX_SAFE_INTEGER,
    ]
  ) {
    assertEquals(decodeUint(encodeUint(value, 8)), value);
    assertEquals(new DataView(encodeUint(value, 8).buffer).getBigUint64(0), BigInt(value));
  }
  assertEquals(decodeUint(new Uint8Array(8).fill(255)), undefined);
});

Deno.test("afterPrefix() is the first key behind all keys with the prefix", () => {
  assertEquals(afterPrefix(new Uint8Array([1, 2])), new Uint8Array([1, 3]));
  assertEquals(afterPrefix(new Uint8Array([1, 255])), new Uint8Array([2]));
  assertEquals(afterPrefix(new Uint8Array([255, 255])), undefined);
  assertEquals(afterPrefix(new Uint8Array(0)), undefined);
});

Deno.test("compareBytes() orders as blob stores do, equalBytes() compares length and content", () => {
  assert(compareBytes(utf8("a"), utf8("b")) < 0 && compareBytes(utf8("ab"), utf8("a")) > 0);
  assertEquals(compareBytes(utf8("ab"), utf8("ab")), 0);
  assert(
    equalBytes(utf8("ab"), utf8("ab")) && !equalBytes(utf8("ab"), utf8("a")) &&
      !equalBytes(utf8("a"), utf8("ab")),
  );
});

Deno.test("utf8() encodes what TextEncoder does", () => {
  for (const text of ["", "plain", "ä", "a😀", "\ud800"]) {
    assertEquals(utf8(text), new TextEncoder().encode(text));
  }
});

Deno.test("a scratch joins as concat() does, also what does not fit", () => {
  const scratch = new Scratch(4);
  for (const parts of [["ab"], ["ab", "cd"], ["abc", "de"], []]) {
    assertEquals(scratch.join(...parts.map(utf8)), concat(...parts.map(utf8)));
  }
});
