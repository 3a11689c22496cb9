import { bytesToHex } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { type CborValue, encodeCbor } from "../base/cbor.ts";
import { WireError } from "../base/errors.ts";
import { binaryIdFromBytes, type MessageId } from "../base/ids.ts";
import { decodeReceipts, encodeReceipts, mayFollow, receiptStates } from "./receipt.ts";

function idOf(number: number): MessageId {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, number);
  return binaryIdFromBytes<MessageId>(bytes);
}

Deno.test("golden: a receipt of two messages", () => {
  const receipts = [{ id: idOf(1), state: "delivered" }, { id: idOf(2), state: "done" }] as const;
  const bytes = encodeReceipts(receipts);
  const zeros = "00".repeat(15);
  assertEquals(bytesToHex(bytes), `828250${zeros}01018250${zeros}0204`);
  assertEquals(decodeReceipts(bytes), receipts);
});

Deno.test("a receipt tells of 1 to 64 messages, each once, in less than a cell", () => {
  const many = (count: number): { id: MessageId; state: "held" }[] =>
    Array.from({ length: count }, (_, i) => ({ id: idOf(i), state: "held" }));
  const full = encodeReceipts(many(64));
  assert(full.length < 2048);
  assertEquals(decodeReceipts(full), many(64));
  for (const wrong of [many(0), many(65), [...many(2), ...many(1)]]) {
    assertThrows(() => encodeReceipts(wrong), WireError);
  }
});

Deno.test("decodeReceipts() refuses what no version may send", () => {
  const id = new Uint8Array(16);
  const row = (...of: CborValue[]): CborValue => of;
  const wrong: Readonly<Record<string, CborValue>> = {
    "no list": id,
    "a map": new Map([[1, 1]]),
    "no items": [],
    "an item that is no list": [1],
    "an item of one": [row(id)],
    "an item of three": [row(id, 1, 1)],
    "a short id": [row(id.subarray(1), 1)],
    "state 0": [row(id, 0)],
    "state 5": [row(id, 5)],
    "a state that is text": [row(id, "done")],
    "an id twice": [row(id, 1), row(id, 4)],
    "65 items": Array.from({ length: 65 }, (_, i) => row(new Uint8Array(16).fill(i), 1)),
    "9 KiB": [row(new Uint8Array(9 * 1024), 1)],
  };
  for (const value of Object.values(wrong)) {
    assertThrows(() => decodeReceipts(encodeCbor(value)), WireError);
  }
  const good = encodeReceipts([{ id: idOf(1), state: "refused" }]);
  for (let length = 0; length < good.length; length++) {
    assertThrows(() => decodeReceipts(good.subarray(0, length)), WireError);
  }
  assertThrows(() => decodeReceipts(Uint8Array.of(...good, 0)), WireError);
});

Deno.test("states go forward alone, and nothing follows an end", () => {
  const ways = receiptStates.flatMap((before) =>
    receiptStates.filter((next) => mayFollow(before, next)).map((next) => `${before} ${next}`)
  );
  assertEquals(ways, ["delivered done", "held delivered", "held refused", "held done"]);
  assert(receiptStates.every((next) => mayFollow(undefined, next)));
});
