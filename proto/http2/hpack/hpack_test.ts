// HPACK: the examples of RFC 7541 Appendix C, golden bytes of ours, and round trips.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../../tests/support/mod.ts";
import { ConnectionError } from "../errors.ts";
import { HpackDecoder } from "./decoder.ts";
import { HpackEncoder } from "./encoder.ts";
import { huffmanDecode, huffmanEncode, huffmanLength } from "./huffman.ts";

type Pair = [name: string, value: string];
const ok: readonly Pair[] = [[":status", "200"]];

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.replaceAll(" ", "").match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

function decode(decoder: HpackDecoder, block: Uint8Array): Pair[] {
  const { fields, oversized } = decoder.decode(block, 0, block.length);
  assert(!oversized);
  return fields.map(({ name, value }) => [name, value]);
}

const request = (path: string, scheme: string, ...rest: Pair[]): Pair[] => [
  [":method", "GET"],
  [":scheme", scheme],
  [":path", path],
  [":authority", "www.example.com"],
  ...rest,
];
const requests: readonly Pair[][] = [
  request("/", "http"),
  request("/", "http", ["cache-control", "no-cache"]),
  request("/index.html", "https", ["custom-key", "custom-value"]),
];
const response = (status: string, seconds: number, ...rest: Pair[]): Pair[] => [
  [":status", status],
  ["cache-control", "private"],
  ["date", `Mon, 21 Oct 2013 20:13:${seconds} GMT`],
  ["location", "https://www.example.com"],
  ...rest,
];
const cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
const responses: readonly Pair[][] = [
  response("302", 21),
  response("307", 21),
  response("200", 22, ["content-encoding", "gzip"], ["set-cookie", cookie]),
];
/** The response examples use a table of 256 bytes; a size update asks for it. */
const smallTable = "3f e1 01 ";

const examples: readonly { name: string; blocks: readonly string[]; fields: readonly Pair[][] }[] =
  [
    {
      name: "C.2.1 literal with indexing",
      blocks: ["400a637573746f6d2d6b65790d637573746f6d2d686561646572"],
      fields: [[["custom-key", "custom-header"]]],
    },
    {
      name: "C.2.2 literal without indexing",
      blocks: ["040c2f73616d706c652f70617468"],
      fields: [[[":path", "/sample/path"]]],
    },
    {
      name: "C.2.3 literal never indexed",
      blocks: ["100870617373776f726406736563726574"],
      fields: [[["password", "secret"]]],
    },
    { name: "C.2.4 indexed", blocks: ["82"], fields: [[[":method", "GET"]]] },
    {
      name: "C.3 requests without Huffman",
      blocks: [
        "828684410f7777772e6578616d706c652e636f6d",
        "828684be58086e6f2d6361636865",
        "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
      ],
      fields: requests,
    },
    {
      name: "C.4 requests with Huffman",
      blocks: [
        "828684418cf1e3c2e5f23a6ba0ab90f4ff",
        "828684be5886a8eb10649cbf",
        "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
      ],
      fields: requests,
    },
    {
      name: "C.5 responses without Huffman, with eviction",
      blocks: [
        smallTable +
        "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d",
        "4803333037c1c0bf",
        "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
      ],
      fields: responses,
    },
    {
      name: "C.6 responses with Huffman, with eviction",
      blocks: [
        smallTable +
        "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
        "4883640effc1c0bf",
        "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
      ],
      fields: responses,
    },
  ];

for (const { name, blocks, fields } of examples) {
  Deno.test(`RFC 7541 ${name} decodes to the fields of the appendix`, () => {
    const decoder = new HpackDecoder(10_000);
    assertEquals(blocks.map((block) => decode(decoder, hex(block))), [...fields]);
  });

  Deno.test(`RFC 7541 ${name}, cut anywhere, never yields other fields`, () => {
    for (const [i, block] of blocks.entries()) {
      const whole = hex(block);
      for (let length = 0; length < whole.length; length++) {
        const decoder = new HpackDecoder(10_000);
        for (const earlier of blocks.slice(0, i)) decode(decoder, hex(earlier));
        try {
          const got = decode(decoder, whole.slice(0, length));
          assertEquals(got, fields[i]?.slice(0, got.length));
          assert(got.length < (fields[i]?.length ?? 0));
        } catch (error) {
          if (!(error instanceof ConnectionError)) throw error;
        }
      }
    }
  });
}

Deno.test("RFC 7541 C.1 integers: 10 and 1337 in a 5-bit prefix, 42 in 8 bits", () => {
  const decoder = new HpackDecoder(10_000);
  decode(decoder, hex("2a")); // 10: a size update of that value is accepted
  decode(decoder, hex("3f9a0a")); // 1337
  assertThrows(() => decode(decoder, hex("3fe21f")), ConnectionError, "4097");
});

Deno.test("a gRPC answer takes golden bytes the first time and single bytes after", () => {
  const encoder = new HpackEncoder();
  const head: Pair[] = [["content-type", "application/grpc+proto"]];
  const first = encoder.encode(head, ok).slice();
  assertEquals(first, hex("885f901d75d0620d263d4c4d6564ff75d8749f"));
  assertEquals(encoder.encode(head, ok).slice(), hex("88be"));
  encoder.encode([["grpc-status", "0"]]);
  assertEquals(encoder.encode([["grpc-status", "0"]]).slice(), hex("be"));
  assertEquals(encoder.encode(head, ok).slice(), hex("88bf"));
});

Deno.test("secrets are sent as never-indexed and stay out of the table", () => {
  const encoder = new HpackEncoder();
  const once = encoder.encode([["set-cookie", "session=secret"], ["authorization", "Bearer x"]])
    .slice();
  assertEquals(once[0], 0x1f); // never indexed, name by static index
  assertEquals(
    encoder.encode([["set-cookie", "session=secret"], ["authorization", "Bearer x"]]).slice(),
    once,
  );
});

Deno.test("a smaller table of the peer is signalled, obeyed, and may grow again", () => {
  const encoder = new HpackEncoder();
  const decoder = new HpackDecoder(10_000);
  const pairs: Pair[] = [["x-a", "1"], ["x-b", "2"]];
  decode(decoder, encoder.encode(pairs));
  encoder.setTableBytes(0);
  encoder.setTableBytes(100);
  const block = encoder.encode(pairs).slice();
  assertEquals(block.slice(0, 3), hex("203f45"));
  assertEquals(decode(decoder, block), pairs);
  encoder.setTableBytes(1_000_000);
  const grown = encoder.encode(pairs).slice();
  assertEquals(grown.slice(0, 3), hex("3fe11f"));
  assertEquals(decode(decoder, grown), pairs);
});

Deno.test("a field that may not be sent is refused and leaves both tables in agreement", () => {
  const encoder = new HpackEncoder();
  const decoder = new HpackDecoder(10_000);
  decode(decoder, encoder.encode([["x-a", "1"]]));
  for (
    const bad of [["x-b", "a\nb"], ["x b", "1"], [":path", "/"], ["x-c", "€"], ["", "1"]] as Pair[]
  ) {
    assertThrows(() => encoder.encode([["x-new", "1"], bad], ok), TypeError, "Cannot send header");
  }
  assertEquals(decode(decoder, encoder.encode([["x-a", "1"], ["x-new", "1"]])), [["x-a", "1"], [
    "x-new",
    "1",
  ]]);
  assertEquals(decode(decoder, encoder.encode([["x-new", "1"], ["x-a", "1"]])), [["x-new", "1"], [
    "x-a",
    "1",
  ]]);
});

Deno.test("fields of one HTTP/1.1 hop are left out of a response, upper case is lowered", () => {
  const block = new HpackEncoder().encode([["Connection", "close"], ["X-Test", "1"], [
    "transfer-encoding",
    "chunked",
  ]]);
  assertEquals(decode(new HpackDecoder(10_000), block), [["x-test", "1"]]);
});

Deno.test("Huffman decodes what it encodes, for every byte and at every length", () => {
  const random = createRandom(seedFromEnvironment());
  for (let round = 0; round < 2_000; round++) {
    const text = String.fromCharCode(...random.bytes(random.below(64)));
    const code = new Uint8Array(huffmanLength(text));
    assertEquals(huffmanEncode(text, code, 0), code.length);
    const out = new Uint8Array(64);
    const length = huffmanDecode(code, { start: 0, end: code.length }, out);
    assertEquals(String.fromCharCode(...out.subarray(0, length)), text, `seed ${random.seed}`);
  }
});

Deno.test("huffmanDecode() refuses an output that is too small", () => {
  const code = new Uint8Array(huffmanLength("aaaa"));
  huffmanEncode("aaaa", code, 0);
  assertEquals(huffmanDecode(code, { start: 0, end: code.length }, new Uint8Array(3)), undefined);
});

Deno.test("random header lists survive a long-lived encoder and decoder, through every table size", () => {
  const random = createRandom(seedFromEnvironment());
  const encoder = new HpackEncoder();
  const decoder = new HpackDecoder(1_000_000);
  const names = [
    "content-type",
    "grpc-status",
    "x-request-id",
    "set-cookie",
    "date",
    "x-other",
    "vary",
    "server",
  ];
  const text = (length: number): string =>
    Array.from({ length }, () => String.fromCharCode(0x21 + random.below(0x5e))).join("");
  for (let round = 0; round < 20_000; round++) {
    if (random.chance(0.05)) encoder.setTableBytes(random.below(5_000));
    const pairs = Array.from({ length: random.below(8) }, (): Pair => [
      random.chance(0.9) ? random.pick(names) : `x-${random.below(1_000)}`,
      random.chance(0.7) ? String(random.below(20)) : text(random.below(200)),
    ]);
    assertEquals(
      decode(decoder, encoder.encode(pairs)),
      pairs,
      `seed ${random.seed}, round ${round}`,
    );
  }
});

Deno.test("HpackDecoder survives random bytes: fields or COMPRESSION_ERROR, nothing else", () => {
  const random = createRandom(seedFromEnvironment());
  for (let round = 0; round < 50_000; round++) {
    const decoder = new HpackDecoder(4_096);
    const block = random.bytes(random.below(80));
    try {
      decoder.decode(block, 0, block.length);
    } catch (error) {
      assert(
        error instanceof ConnectionError && error.code === 9,
        `seed ${random.seed}, round ${round}: ${error}`,
      );
    }
  }
});
