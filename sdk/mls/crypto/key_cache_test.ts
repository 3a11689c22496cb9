import { assertEquals } from "@std/assert";
import { createKeyCache } from "./key_cache.ts";

/** Keys in the order in which they were imported, by their first two bytes. */
function createRecorded(): {
  readonly imported: number[];
  readonly find: (bytes: Uint8Array) => number;
} {
  const imported: number[] = [];
  const find = createKeyCache((bytes) => {
    const key = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
    imported.push(key);
    return key;
  });
  return { imported, find };
}

Deno.test("a key is imported once, for the same array and for another with the same bytes", () => {
  const { imported, find } = createRecorded();
  const bytes = Uint8Array.of(1, 2, 3);
  assertEquals([find(bytes), find(bytes), find(bytes.slice())], [258, 258, 258]);
  assertEquals(find(Uint8Array.of(1, 3, 3)), 259);
  assertEquals(imported, [258, 259]);
});

Deno.test("an array that was changed is another key", () => {
  const { imported, find } = createRecorded();
  const bytes = Uint8Array.of(1, 2, 3);
  assertEquals(find(bytes), 258);
  bytes[1] = 3;
  assertEquals([find(bytes), find(Uint8Array.of(1, 2, 3))], [259, 258]);
  assertEquals(imported, [258, 259]);
});

Deno.test("of more than 2,048 keys the oldest is forgotten, unless its own array is still there", () => {
  const { imported, find } = createRecorded();
  const arrays = Array.from({ length: 2049 }, (_, i) => Uint8Array.of(i >> 8, i));
  arrays.forEach(find);
  assertEquals(imported.length, 2049);
  assertEquals(find(Uint8Array.of(0, 0)), 0);
  assertEquals(imported.length, 2050);
  assertEquals(arrays.map(find).length, 2049);
  assertEquals(imported.length, 2050);
});
