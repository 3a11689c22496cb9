import { assertEquals, assertThrows } from "@std/assert";
import { decodeFields, encodeFields, StoreFault } from "./mod.ts";

Deno.test("encodeFields() refuses numbers that could not be read again", () => {
  for (const number of [7.5, 2 ** 53, -(2 ** 53), 1e300, NaN, Infinity]) {
    for (const fields of [[number], [[1, [number]]], [new Map([["a", number]])]]) {
      assertThrows(() => encodeFields(fields), StoreFault, "whole number");
    }
  }
  const numbers = [0, -0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  assertEquals(
    numbers.map((_, i) => decodeFields(encodeFields(numbers), "test").number(i)),
    numbers.map((n) => n + 0),
  );
});
