import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createPrivateMessage,
  mlsVector,
  readVectors,
  testWhen,
  vectors,
} from "../../tests/support/mod.ts";
import { WireError } from "../base/errors.ts";
import { binaryIdFromBytes, type ChannelId } from "../base/ids.ts";
import { readPrivateMessageHeader, readWelcomeHeader } from "./message.ts";
import { encodeVectorLength, MlsReader } from "./reader.ts";

const groupId = new Uint8Array(16).fill(7);

Deno.test("a PrivateMessage shows group id, epoch, content type and authenticated data", () => {
  const channelId = binaryIdFromBytes<ChannelId>(groupId);
  const authenticatedData = Uint8Array.of(8, 9);
  const types = ["application", "proposal", "commit"] as const;
  types.forEach((contentType, i) => {
    const message = createPrivateMessage({
      groupId,
      epoch: 258,
      contentType: i + 1,
      authenticatedData,
    });
    const header = readPrivateMessageHeader(message);
    assertEquals(header, { channelId, epoch: 258, contentType, authenticatedData });
  });
});

/** A valid message up to its authenticated data, then these bytes. */
function withTail(...tail: number[]): Uint8Array {
  return concatBytes(createPrivateMessage().subarray(0, 30), Uint8Array.from(tail));
}

const refused: readonly [why: string, message: Uint8Array][] = [
  ["a PublicMessage", createPrivateMessage({ wireFormat: 1 })],
  ["a Welcome", createPrivateMessage({ wireFormat: 3 })],
  ["another version of MLS", createPrivateMessage({ version: 2 })],
  ["a group id of 15 bytes", createPrivateMessage({ groupId: new Uint8Array(15) })],
  ["an empty group id", createPrivateMessage({ groupId: new Uint8Array(0) })],
  ["an epoch beyond 2^53 - 1", createPrivateMessage({ epoch: 2n ** 53n })],
  ["content type 0", createPrivateMessage({ contentType: 0 })],
  ["content type 4", createPrivateMessage({ contentType: 4 })],
  ["trailing bytes", withTail(0, 0, 0, 9)],
  ["a length that is longer than needed", withTail(0x40, 1, 5, 0, 0)],
  ["a reserved length", withTail(0xc0, 0, 0, 0, 0, 0, 0, 0)],
];

Deno.test("the hand-made beginning of a PrivateMessage is one that can be completed", () => {
  assertEquals(readPrivateMessageHeader(withTail(0, 0, 0)).contentType, "application");
});

for (const [why, message] of refused) {
  Deno.test(`readPrivateMessageHeader() refuses ${why}`, () => {
    assertEquals(
      assertThrows(() => readPrivateMessageHeader(message), WireError).code,
      "invalid_request",
    );
  });
}

Deno.test("every truncation of a PrivateMessage is refused", () => {
  const message = createPrivateMessage();
  for (let length = 0; length < message.length; length++) {
    assertThrows(() => readPrivateMessageHeader(message.subarray(0, length)), WireError);
  }
});

Deno.test("vector lengths survive in all three sizes", () => {
  for (const length of [0, 1, 63, 64, 16383, 16384, 100_000]) {
    const reader = new MlsReader(mlsVector(new Uint8Array(length)), "vector");
    assertEquals(reader.vector().length, length);
    assertEquals(
      encodeVectorLength(length),
      mlsVector(new Uint8Array(length)).slice(0, -length || undefined),
    );
    reader.end();
  }
  assertThrows(() => encodeVectorLength(2 ** 30), RangeError);
});

interface MessagesVector {
  readonly mls_welcome: string;
  readonly mls_key_package: string;
  readonly private_message: string;
  readonly public_message_commit: string;
}

testWhen(
  vectors("mls/messages.json"),
  "mls/messages.json: headers read, other wire formats and truncations refused",
  () => {
    for (
      const { mls_welcome, private_message, public_message_commit } of readVectors(
        "mls/messages.json",
      ) as MessagesVector[]
    ) {
      assert(readWelcomeHeader(hexToBytes(mls_welcome)).recipients.length > 0);
      assertThrows(() => readWelcomeHeader(hexToBytes(mls_welcome).subarray(0, -1)), WireError);
      const message = hexToBytes(private_message);
      const header = readPrivateMessageHeader(message);
      assertEquals(header.channelId, binaryIdFromBytes<ChannelId>(message.subarray(5, 21)));
      assertThrows(() => readPrivateMessageHeader(message.subarray(0, -1)), WireError);
      assertThrows(
        () => readPrivateMessageHeader(hexToBytes(public_message_commit)),
        WireError,
        "not a PrivateMessage",
      );
    }
  },
);
