import { assertEquals, assertThrows } from "@std/assert";
import { type Batch, decodeBatch, encodeBatch } from "./batch.ts";

const batch: Batch = {
  writer: "w",
  relay: "r",
  number: 7,
  commands: [new Uint8Array([1, 2]), new Uint8Array(0)],
};

Deno.test("a batch is read as it was written", () => {
  assertEquals(decodeBatch(encodeBatch(batch)), batch);
  assertEquals(decodeBatch(encodeBatch({ ...batch, commands: [] })).commands, []);
  const first = { ...batch, number: 1, began: 300, commands: [] };
  assertEquals(decodeBatch(encodeBatch(first)), first);
});

Deno.test("a batch has these bytes", () => {
  const hex = [...encodeBatch(batch)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  assertEquals(hex, "0000000784016177617207000000020102" + "00000000");
});

Deno.test("a batch that is cut, or of another version, is refused", () => {
  const bytes = encodeBatch(batch);
  for (let length = 0; length < bytes.length; length++) {
    // A batch that ends where a command ends has fewer commands.
    if (length === 11 || length === 17) continue;
    assertThrows(() => decodeBatch(bytes.subarray(0, length)), Error);
  }
  const newer = encodeBatch(batch);
  newer[5] = 2;
  assertThrows(() => decodeBatch(newer), TypeError, "version 2");
});
