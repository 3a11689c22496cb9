import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { createRandom, seedFromEnvironment } from "../../../tests/support/mod.ts";
import { ByteSource, encodeVarint, Http3Error } from "./byte_source.ts";
import { encodeCloseSession, encodeControlStream, encodeResponse } from "./frames.ts";
import { decodeFields, encodeStatus } from "./qpack.ts";

function source(chunks: readonly Uint8Array[], budget = 1_000_000): ByteSource {
  return new ByteSource(ReadableStream.from(chunks), budget);
}

Deno.test("integers have the encodings of RFC 9000, appendix A.1", async () => {
  const examples: readonly [number, string][] = [
    [494_878_333, "9d7f3e7d"],
    [15_293, "7bbd"],
    [37, "25"],
  ];
  for (const [value, hex] of examples) {
    assertEquals(await source([hexToBytes(hex)]).varint(), value);
  }
  for (const value of [0, 63, 64, 16_383, 16_384, 2 ** 30 - 1, 2 ** 30, Number.MAX_SAFE_INTEGER]) {
    const bytes = encodeVarint(value);
    assertEquals(await source([...bytes].map((byte) => Uint8Array.of(byte))).varint(), value);
  }
  assertEquals(await source([]).varint(), undefined);
  // The appendix's longest example is beyond what a number can hold exactly, and beyond anything we
  // could be sent.
  await assertRejects(() => source([hexToBytes("c2197c5eff14e88c")]).varint(), Http3Error);
  await assertRejects(() => source([Uint8Array.of(0xc0, 1)]).varint(), Http3Error);
});

Deno.test("bytes, skipped bytes and the rest come out as they went in, however they were cut", async () => {
  const random = createRandom(seedFromEnvironment());
  for (let round = 0; round < 100; round++) {
    const bytes = random.bytes(500);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = at + random.below(60);
      chunks.push(bytes.subarray(at, end));
      at = end;
    }
    const stream = ReadableStream.from(chunks);
    const reader = new ByteSource(stream, bytes.length);
    const [taken, skipped] = [random.below(200), random.below(200)];
    assertEquals(await reader.bytes(taken), bytes.subarray(0, taken), `seed ${random.seed}`);
    await reader.skip(skipped);
    const rest = [...reader.release()];
    for await (const part of stream) rest.push(...part);
    assertEquals(Uint8Array.from(rest), bytes.subarray(taken + skipped));
  }
});

Deno.test("a stream has a budget, and what is cut off is an error", async () => {
  await assertRejects(() => source([new Uint8Array(100)], 50).bytes(51), Http3Error);
  await assertRejects(() => source([new Uint8Array(100)], 50).skip(51), Http3Error);
  await assertRejects(
    () => source([new Uint8Array(30), new Uint8Array(30)], 50).drain(),
    Http3Error,
  );
  await source([new Uint8Array(30), new Uint8Array(20)], 50).drain();
  await assertRejects(() => source([new Uint8Array(10)]).bytes(11), Http3Error);
  await assertRejects(() => source([new Uint8Array(10)]).skip(11), Http3Error);
});

Deno.test("a WebTransport request is decoded from static entries, literals and Huffman codes", () => {
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const block = concatBytes(
    hexToBytes("0000"),
    Uint8Array.of(0xcf), // :method CONNECT
    Uint8Array.of(0x27, 2), // a literal name of 9 bytes
    text(":protocol"),
    Uint8Array.of(12),
    text("webtransport"),
    Uint8Array.of(0xd7), // :scheme https
    Uint8Array.of(0x50, 0x8c), // :authority, Huffman
    hexToBytes("f1e3c2e5f23a6ba0ab90f4ff"), // www.example.com, RFC 7541 C.4.1
    Uint8Array.of(0xc1), // :path /
    Uint8Array.of(0x5f, 0x4b, 19), // origin, never indexed or not
    text("https://app.example"),
    Uint8Array.of(0xff, 0x03), // a static entry that nobody needs
  );
  assertEquals(Object.fromEntries(decodeFields(block)), {
    ":method": "CONNECT",
    ":protocol": "webtransport",
    ":scheme": "https",
    ":authority": "www.example.com",
    ":path": "/",
    "origin": "https://app.example",
  });
});

Deno.test("header blocks that need a dynamic table, or are cut, are refused", () => {
  const broken = [
    "",
    "00",
    "0500",
    "000080",
    "000010",
    "0000ff",
    "0000ffffffffffff",
    "000027",
    "00002702aa",
    "0000ff24",
  ];
  for (const hex of broken) assertThrows(() => decodeFields(hexToBytes(hex)), Http3Error);
});

Deno.test("random header blocks are decoded or refused, nothing else", () => {
  const random = createRandom(seedFromEnvironment());
  for (let round = 0; round < 20_000; round++) {
    const block = concatBytes(Uint8Array.of(0, 0), random.bytes(random.below(40)));
    try {
      decodeFields(block);
    } catch (error) {
      if (!(error instanceof Http3Error)) throw new Error(`seed ${random.seed}`, { cause: error });
    }
  }
});

Deno.test("what we send has frozen bytes", () => {
  assertEquals([200, 404, 400, 403].map((status) => [...encodeStatus(status as 200)]), [
    [0, 0, 0xd9],
    [0, 0, 0xdb],
    [0, 0, 0xff, 4],
    [0, 0, 0xff, 5],
  ]);
  assertEquals(encodeResponse(200), Uint8Array.of(1, 3, 0, 0, 0xd9));
  assertEquals(encodeCloseSession(0x134, "no"), hexToBytes("000968430600000134" + "6e6f"));
  assertEquals(
    encodeControlStream(),
    hexToBytes("0004170801330180ffd27701" + "ab60374201" + "c0000000c671706a01"),
  );
});
