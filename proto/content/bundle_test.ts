import { assertEquals, assertThrows } from "@std/assert";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  bundledHeadBytes,
  type BundledMessage,
  decodeBundle,
  encodeBundle,
  maxBundleBytes,
} from "./bundle.ts";
import { WireError } from "../base/errors.ts";
import { binaryIdFromBytes, type MessageId } from "../base/ids.ts";

function message(fill: number, length: number): BundledMessage {
  const id = binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(fill));
  return { id, plaintext: new Uint8Array(length).fill(fill) };
}

const three = [message(1, 2), message(2, 1), message(3, 300)];

Deno.test("golden: a bundle is id, length and bytes of each message", () => {
  const expected = `${"01".repeat(16)}000000020101${"02".repeat(16)}0000000102`;
  assertEquals(bytesToHex(encodeBundle(three.slice(0, 2))), expected);
});

Deno.test("messages of a bundle come back in their order", () => {
  assertEquals(decodeBundle(encodeBundle(three), 3), three);
});

Deno.test("a bundle that lies about its number is refused", () => {
  const bytes = encodeBundle(three);
  for (const count of [0, 1, 2, 4, 64, 65]) {
    assertThrows(() => decodeBundle(bytes, count), WireError);
  }
  assertThrows(() => decodeBundle(new Uint8Array(0), 2), WireError, "holds 0 messages");
});

Deno.test("a bundle that ends elsewhere, holds an empty message, one id twice, or too much is refused", () => {
  const bytes = encodeBundle(three);
  for (let end = 0; end < bytes.length; end++) {
    assertThrows(() => decodeBundle(bytes.subarray(0, end), 3), WireError);
  }
  assertThrows(() => decodeBundle(Uint8Array.of(...bytes, 0), 3), WireError);
  assertThrows(
    () => decodeBundle(encodeBundle([message(1, 0), message(2, 1)]), 2),
    WireError,
    "empty",
  );
  assertThrows(
    () => decodeBundle(encodeBundle([message(1, 1), message(1, 1)]), 2),
    WireError,
    "one id",
  );
  const most = maxBundleBytes - 2 * bundledHeadBytes - 1;
  assertEquals(decodeBundle(encodeBundle([message(1, most), message(2, 1)]), 2).length, 2);
  assertThrows(() => encodeBundle([message(1, most), message(2, 2)]), RangeError);
  assertThrows(() => encodeBundle(three.slice(0, 1)), RangeError);
  assertThrows(() => decodeBundle(new Uint8Array(maxBundleBytes + 1), 2), WireError, "at most");
});

Deno.test("a length beyond what is left allocates nothing", () => {
  const bytes = encodeBundle(three);
  new DataView(bytes.buffer).setUint32(16, 0xffff_ffff);
  assertThrows(() => decodeBundle(bytes, 3), WireError, "longer");
});
