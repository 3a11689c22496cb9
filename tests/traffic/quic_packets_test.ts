import { createCipheriv } from "node:crypto";
import { assertEquals, assertThrows } from "@std/assert";
import { type Keys, QuicOpener, readKeyLog } from "./quic_packets.ts";

const keyLog = `CLIENT_TRAFFIC_SECRET_0 00 ${"5a".repeat(32)}\n`;

/** A 1-RTT packet with some bytes of one stream (RFC 9000, section 17.3; RFC 9001, section 5). */
function seal({ key, iv, headerKey, phase }: Keys, number: number, start: number): Uint8Array {
  // STREAM with offset and length, both as integers of two bytes.
  const frame = Uint8Array.of(
    0x0e,
    0,
    0x40 | (start >> 8),
    start & 255,
    0x40,
    32,
    ...new Uint8Array(32),
  );
  const header = Uint8Array.of(0x40 | phase | 1, ...new Uint8Array(8), number >> 8, number & 255);
  const nonce = iv.slice();
  new DataView(nonce.buffer).setUint32(8, new DataView(nonce.buffer).getUint32(8) ^ number);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  cipher.setAAD(header);
  const body = cipher.update(frame);
  cipher.final();
  const packet = Uint8Array.of(...header, ...body, ...cipher.getAuthTag());
  const mask = createCipheriv("aes-128-ecb", headerKey, null).update(packet.subarray(13, 29));
  packet[0] = (packet[0] ?? 0) ^ ((mask[0] ?? 0) & 0x1f);
  for (const at of [0, 1]) packet[9 + at] = (packet[9 + at] ?? 0) ^ (mask[1 + at] ?? 0);
  return packet;
}

function prepare(): { opener: QuicOpener; keys: Keys } {
  const { client } = readKeyLog(keyLog);
  const [keys] = client;
  if (keys === undefined) throw new Error("The key log has no keys");
  return { opener: new QuicOpener(client), keys };
}

Deno.test("QuicOpener opens packets around a change of keys in whatever order they come", () => {
  const { opener, keys } = prepare();
  const [second, third] = [keys.next(), keys.next().next()];
  const packets: [Keys, number][] = [[keys, 0], [second, 2], [keys, 1], [second, 3], [third, 5], [
    second,
    4,
  ], [
    third,
    6,
  ]];
  const opened = packets.map(([each, number]) =>
    opener.open(seal(each, number, number * 32))?.streamBytes
  );
  // Nothing counts twice, and nothing that came late is left out.
  assertEquals(opener.open(seal(third, 7, 32))?.streamBytes, 0);
  assertEquals(opened, [32, 32, 32, 32, 32, 32, 32]);
});

Deno.test("QuicOpener refuses a packet of keys that the connection never had", () => {
  const { opener, keys } = prepare();
  opener.open(seal(keys, 0, 0));
  assertThrows(
    () => opener.open(seal(keys.next().next().next(), 1, 32)),
    Error,
    "does not open with any key",
  );
});
