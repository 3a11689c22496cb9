import { assertEquals, assertThrows } from "@std/assert";
import { bytesToHex } from "@noble/hashes/utils.js";
import { WireError } from "../base/errors.ts";
import { type LogWord, logWordBytes, nothingSaid, readLogWord, writeLogWord } from "./log_word.ts";

const [hash, before] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)];

function written(word: LogWord): Uint8Array {
  const bytes = new Uint8Array(logWordBytes);
  writeLogWord(bytes, word);
  return bytes;
}

Deno.test("a word about the log survives, whole or a part of it", () => {
  for (
    const seen of [undefined, { place: 1, count: 0, hash }, {
      place: 2 ** 40 - 1,
      count: 65_535,
      hash,
    }]
  ) {
    for (const word of [{ seen, before }, { seen, before: undefined }]) {
      assertEquals(readLogWord(written(word)), word);
    }
  }
  const word = { seen: { place: 2 ** 32 + 258, count: 65_536 + 3, hash }, before };
  assertEquals(
    bytesToHex(written(word)),
    `0100000102${"0003"}${"01".repeat(16)}${"02".repeat(16)}`,
  );
});

Deno.test("zeros say nothing, nor does a place beyond 2^40", () => {
  assertEquals(written(nothingSaid), new Uint8Array(logWordBytes));
  assertEquals(
    written({ seen: { place: 2 ** 40, count: 1, hash }, before: undefined }),
    new Uint8Array(logWordBytes),
  );
  assertEquals(readLogWord(new Uint8Array(logWordBytes)), nothingSaid);
});

Deno.test("fewer bytes are no word, and what follows is ignored", () => {
  assertThrows(() => readLogWord(new Uint8Array(logWordBytes - 1)), WireError, "39 bytes");
  const word = { seen: { place: 7, count: 1, hash }, before };
  assertEquals(readLogWord(Uint8Array.of(...written(word), 1, 2)), word);
  assertThrows(
    () => written({ seen: { place: 7, count: 1, hash: new Uint8Array(15) }, before }),
    RangeError,
  );
});
