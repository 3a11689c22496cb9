import { assertEquals, assertThrows } from "@std/assert";
import { WireError } from "../base/errors.ts";
import { binaryIdFromBytes, type MessageId } from "../base/ids.ts";
import { nothingSaid } from "./log_word.ts";
import {
  decodeMessageAad,
  encodeMessageAad,
  maxBundledMessages,
  readMessageWord,
} from "./message_aad.ts";

const messageId = binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(4));
const gone = { first: 3, count: 5 };

Deno.test("what a message says about itself survives, and its length says nothing", () => {
  const full = {
    messageId,
    counter: Number.MAX_SAFE_INTEGER - 63,
    count: 64,
    keyNumber: 2 ** 32 - 1,
    gone,
  };
  const single = { messageId, counter: 1, count: 1, keyNumber: 0, gone: undefined };
  for (const aad of [full, single]) assertEquals(decodeMessageAad(encodeMessageAad(aad)), aad);
  assertEquals(encodeMessageAad(full).length, encodeMessageAad({ messageId, counter: 1 }).length);
});

Deno.test("what is appended is ignored, and less is refused", () => {
  const aad = { messageId, counter: 9, count: 2, keyNumber: 1, gone };
  const bytes = encodeMessageAad(aad);
  assertEquals(decodeMessageAad(Uint8Array.of(...bytes, 1, 2)), aad);
  for (const length of [0, 24, 42, 80]) {
    assertThrows(() => decodeMessageAad(bytes.subarray(0, length)), WireError);
  }
});

Deno.test("its end is a word about the log, and one that says nothing has the same length", () => {
  const hash = new Uint8Array(16).fill(1);
  const word = { seen: { place: 9, count: 2, hash }, before: hash };
  const [said, unsaid] = [
    encodeMessageAad({ messageId, counter: 1, word }),
    encodeMessageAad({ messageId, counter: 1 }),
  ];
  assertEquals([readMessageWord(said), readMessageWord(unsaid)], [word, nothingSaid]);
  assertEquals([said.length, unsaid.length], [81, 81]);
});

Deno.test("a number of messages that cannot be, and counters that are not before it, are refused", () => {
  const of = (changed: object): Uint8Array =>
    encodeMessageAad({ messageId, counter: 8, ...changed });
  for (const count of [0, maxBundledMessages + 1, 65_535]) {
    assertThrows(() => decodeMessageAad(of({ count })), WireError, "1 to 64");
  }
  for (const range of [{ first: 0, count: 1 }, { first: 8, count: 1 }, { first: 3, count: 6 }]) {
    assertThrows(() => decodeMessageAad(of({ gone: range })), WireError, "before the message");
  }
  assertEquals(decodeMessageAad(of({ gone })).gone, gone);
  assertThrows(() => decodeMessageAad(new Uint8Array(81).fill(255)), WireError, "counter");
  const last = Number.MAX_SAFE_INTEGER;
  assertEquals(decodeMessageAad(of({ counter: last })).counter, last);
  for (const count of [2, maxBundledMessages]) {
    assertThrows(
      () => decodeMessageAad(of({ counter: last - count + 2, count })),
      WireError,
      "last counter",
    );
  }
});
