// RFC 9113 §§ 3-8, requirement by requirement: what a server must answer to each violation, written
// frame by frame. The catalogue follows h2spec's; the names are the requirements.
import { assert, assertEquals } from "@std/assert";
import { okHandler, Peer } from "../../tests/support/http2/peer.ts";
import {
  block,
  type Bytes,
  bytes,
  code,
  concat,
  continuation,
  data,
  flag,
  frame,
  getBlock,
  getFields,
  goaway,
  headers,
  ping,
  postBlock,
  postFields,
  preface,
  priority,
  readUint32,
  rstStream,
  settings,
  settingsAck,
  type,
  uint32,
  windowUpdate,
} from "../../tests/support/http2/wire.ts";

const eight = bytes(1, 2, 3, 4, 5, 6, 7, 8);
const open = flag.END_HEADERS;
/** A request on stream 1 that is still being sent, and one that is complete and answered. */
const opened = headers(1, postBlock, open);
const answered = headers(1, getBlock);
const ok = (id: number): string => `HEADERS ${id} END_STREAM`;
const connectionError = (name: keyof typeof code, last = 0): string[] => [`GOAWAY ${last} ${name}`];
const streamError = (name: keyof typeof code, id = 1): string[] => [`RST_STREAM ${id} ${name}`];

type Case = readonly [requirement: string, frames: readonly Bytes[], expected: readonly string[]];

const framing: readonly Case[] = [
  ["§4.1 a frame of an unknown type is ignored", [frame(0x16, 0, 0, eight), ping(eight)], [
    "PING ACK",
  ]],
  [
    "§4.1 an unknown type on a stream is ignored",
    [opened, frame(0x16, 0xff, 1), data(1, eight, 1)],
    [ok(1)],
  ],
  ["§4.1 undefined flags are ignored", [frame(type.PING, 0x16, 0, eight)], ["PING ACK"]],
  [
    "§4.1 the reserved bit of a stream identifier is ignored",
    [frame(type.PING, 0, 2 ** 31, eight)],
    ["PING ACK"],
  ],
  ["§4.2 a frame of 16,384 bytes is accepted", [opened, data(1, new Uint8Array(16_384), 1)], [
    ok(1),
  ]],
  [
    "§4.2 DATA above the maximum frame size is FRAME_SIZE_ERROR",
    [opened, data(1, new Uint8Array(16_385), 1)],
    connectionError("FRAME_SIZE_ERROR", 1),
  ],
  [
    "§4.2 HEADERS above the maximum frame size is a connection error",
    [headers(1, new Uint8Array(16_385))],
    connectionError("FRAME_SIZE_ERROR"),
  ],
  [
    "§4.3 an invalid header block is COMPRESSION_ERROR",
    [headers(1, bytes(0x40))],
    connectionError("COMPRESSION_ERROR"),
  ],
  [
    "§4.3 PRIORITY inside a header block is PROTOCOL_ERROR",
    [headers(1, getBlock, 0), priority(1, 0)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§4.3 HEADERS of another stream inside a header block is PROTOCOL_ERROR",
    [headers(1, getBlock, 0), headers(3, getBlock)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§5.5 an unknown frame inside a header block is PROTOCOL_ERROR",
    [headers(1, getBlock, 0), frame(0x16, 0, 0, eight)],
    connectionError("PROTOCOL_ERROR"),
  ],
];

const streamStates: readonly Case[] = [
  ["§5.1 idle: DATA is PROTOCOL_ERROR", [data(1, eight, 1)], connectionError("PROTOCOL_ERROR")],
  ["§5.1 idle: RST_STREAM is PROTOCOL_ERROR", [rstStream(1, 8)], connectionError("PROTOCOL_ERROR")],
  [
    "§5.1 idle: WINDOW_UPDATE is PROTOCOL_ERROR",
    [windowUpdate(1, 100)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§5.1 idle: CONTINUATION is PROTOCOL_ERROR",
    [continuation(1, getBlock, 4)],
    connectionError("PROTOCOL_ERROR"),
  ],
  ["§5.1 idle: PRIORITY is allowed", [priority(1, 0), answered], [ok(1)]],
  ["§5.1 half-closed (remote): CONTINUATION is PROTOCOL_ERROR", [
    answered,
    continuation(1, getBlock, 4),
  ], connectionError("PROTOCOL_ERROR", 1)],
  [
    "§5.1 closed: DATA after RST_STREAM is STREAM_CLOSED",
    [opened, rstStream(1, 8), data(1, eight, 1)],
    streamError("STREAM_CLOSED"),
  ],
  [
    "§5.1 closed: HEADERS after RST_STREAM is STREAM_CLOSED",
    [opened, rstStream(1, 8), answered],
    streamError("STREAM_CLOSED"),
  ],
  ["§5.1 closed: CONTINUATION after RST_STREAM is PROTOCOL_ERROR", [
    opened,
    rstStream(1, 8),
    continuation(1, getBlock, 4),
  ], connectionError("PROTOCOL_ERROR", 1)],
  ["§5.1 closed: PRIORITY, WINDOW_UPDATE and RST_STREAM after RST_STREAM are ignored", [
    opened,
    rstStream(1, 8),
    priority(1, 0),
    windowUpdate(1, 1),
    rstStream(1, 8),
    ping(eight),
  ], ["PING ACK"]],
  [
    "§5.1.1 a client cannot use an even identifier",
    [headers(2, getBlock)],
    connectionError("PROTOCOL_ERROR"),
  ],
  ["§5.1.1 an identifier below the last one that was skipped is PROTOCOL_ERROR", [
    headers(5, postBlock, open),
    headers(3, getBlock),
  ], connectionError("PROTOCOL_ERROR", 5)],
];

const frames: readonly Case[] = [
  ["§6.1 DATA on stream 0 is PROTOCOL_ERROR", [data(0, eight)], connectionError("PROTOCOL_ERROR")],
  [
    "§6.1 padding as long as the payload is PROTOCOL_ERROR",
    [opened, data(1, bytes(8, 1, 2, 3, 4), flag.PADDED)],
    connectionError("PROTOCOL_ERROR", 1),
  ],
  [
    "§6.1 a padded frame without a pad length is FRAME_SIZE_ERROR",
    [opened, data(1, bytes(), flag.PADDED)],
    connectionError("FRAME_SIZE_ERROR", 1),
  ],
  ["§6.1 padding is not part of the body", [
    headers(1, block(...postFields, ["content-length", "2"]), open),
    data(1, bytes(3, 7, 7, 0, 0, 0), flag.PADDED | flag.END_STREAM),
  ], [ok(1)]],
  ["§6.1 a frame of nothing but padding is accepted", [
    opened,
    data(1, bytes(2, 0, 0), flag.PADDED | 1),
  ], [ok(1)]],
  [
    "§6.2 HEADERS on stream 0 is PROTOCOL_ERROR",
    [headers(0, getBlock)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.2 HEADERS with too much padding is PROTOCOL_ERROR",
    [headers(1, bytes(9, 1, 2, 3), flag.PADDED | 5)],
    connectionError("PROTOCOL_ERROR"),
  ],
  ["§6.2 padded HEADERS with priority fields is accepted", [
    headers(
      1,
      concat(bytes(2), uint32(0), bytes(15), getBlock, bytes(0, 0)),
      flag.PADDED | flag.PRIORITY | 5,
    ),
  ], [ok(1)]],
  [
    "§6.2 HEADERS too short for its priority fields is FRAME_SIZE_ERROR",
    [headers(1, bytes(0, 0), flag.PRIORITY | 5)],
    connectionError("FRAME_SIZE_ERROR"),
  ],
  [
    "§6.3 PRIORITY on stream 0 is PROTOCOL_ERROR",
    [priority(0, 1)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.3 PRIORITY of another length is FRAME_SIZE_ERROR of its stream",
    [opened, frame(type.PRIORITY, 0, 1, eight)],
    streamError("FRAME_SIZE_ERROR"),
  ],
  [
    "§6.3 PRIORITY of another length on an idle stream ends the connection",
    [frame(type.PRIORITY, 0, 1, eight)],
    connectionError("FRAME_SIZE_ERROR"),
  ],
  [
    "§6.4 RST_STREAM on stream 0 is PROTOCOL_ERROR",
    [rstStream(0, 8)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.4 RST_STREAM of another length is FRAME_SIZE_ERROR",
    [opened, frame(type.RST_STREAM, 0, 1, bytes(0, 0, 8))],
    connectionError("FRAME_SIZE_ERROR", 1),
  ],
  ["§6.5 SETTINGS is acknowledged", [settings([4, 100])], ["SETTINGS ACK"]],
  ["§6.5 an acknowledgement with a payload is FRAME_SIZE_ERROR", [
    frame(type.SETTINGS, flag.ACK, 0, bytes(0, 1, 0, 0, 0, 0)),
  ], connectionError("FRAME_SIZE_ERROR")],
  [
    "§6.5 SETTINGS on a stream is PROTOCOL_ERROR",
    [frame(type.SETTINGS, 0, 1)],
    connectionError("PROTOCOL_ERROR"),
  ],
  ["§6.5 SETTINGS of a length that is no multiple of 6 is FRAME_SIZE_ERROR", [
    frame(type.SETTINGS, 0, 0, bytes(0, 3, 0)),
  ], connectionError("FRAME_SIZE_ERROR")],
  [
    "§6.5.2 ENABLE_PUSH other than 0 or 1 is PROTOCOL_ERROR",
    [settings([2, 2])],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.5.2 INITIAL_WINDOW_SIZE above 2^31-1 is FLOW_CONTROL_ERROR",
    [settings([4, 2 ** 31])],
    connectionError("FLOW_CONTROL_ERROR"),
  ],
  [
    "§6.5.2 MAX_FRAME_SIZE below 16,384 is PROTOCOL_ERROR",
    [settings([5, 16_383])],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.5.2 MAX_FRAME_SIZE above 2^24-1 is PROTOCOL_ERROR",
    [settings([5, 2 ** 24])],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "RFC 9218 §2.1 NO_RFC7540_PRIORITIES other than 0 or 1 is PROTOCOL_ERROR",
    [settings([9, 2])],
    connectionError("PROTOCOL_ERROR"),
  ],
  ["§6.5.2 an unknown setting is ignored", [settings([0xff, 1]), ping(eight)], [
    "SETTINGS ACK",
    "PING ACK",
  ]],
  [
    "§6.6 PUSH_PROMISE from a client is PROTOCOL_ERROR",
    [frame(type.PUSH_PROMISE, 4, 1, concat(uint32(2), getBlock))],
    connectionError("PROTOCOL_ERROR"),
  ],
  ["§6.7 a PING acknowledgement is not answered", [ping(eight, flag.ACK)], []],
  [
    "§6.7 PING on a stream is PROTOCOL_ERROR",
    [frame(type.PING, 0, 1, eight)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.7 PING of another length is FRAME_SIZE_ERROR",
    [frame(type.PING, 0, 0, bytes(1, 2))],
    connectionError("FRAME_SIZE_ERROR"),
  ],
  [
    "§6.8 GOAWAY on a stream is PROTOCOL_ERROR",
    [frame(type.GOAWAY, 0, 1, concat(uint32(0), uint32(0)))],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.8 GOAWAY that is too short is FRAME_SIZE_ERROR",
    [frame(type.GOAWAY, 0, 0, eight.slice(1))],
    connectionError("FRAME_SIZE_ERROR"),
  ],
  [
    "§6.9 WINDOW_UPDATE by 0 on the connection is PROTOCOL_ERROR",
    [windowUpdate(0, 0)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.9 WINDOW_UPDATE by 0 on a stream is PROTOCOL_ERROR of the stream",
    [opened, windowUpdate(1, 0)],
    streamError("PROTOCOL_ERROR"),
  ],
  [
    "§6.9 WINDOW_UPDATE of another length is FRAME_SIZE_ERROR",
    [frame(type.WINDOW_UPDATE, 0, 0, bytes(0, 0, 1))],
    connectionError("FRAME_SIZE_ERROR"),
  ],
  [
    "§6.9 the reserved bit of an increment is ignored",
    [windowUpdate(0, 2 ** 31 + 1), ping(eight)],
    ["PING ACK"],
  ],
  [
    "§6.9.1 a connection window above 2^31-1 is FLOW_CONTROL_ERROR",
    [windowUpdate(0, 2 ** 31 - 1)],
    connectionError("FLOW_CONTROL_ERROR"),
  ],
  [
    "§6.9.1 a stream window above 2^31-1 is FLOW_CONTROL_ERROR of the stream",
    [opened, windowUpdate(1, 2 ** 31 - 1)],
    streamError("FLOW_CONTROL_ERROR"),
  ],
  ["§6.9.2 an initial window that overflows an open stream is FLOW_CONTROL_ERROR", [
    opened,
    windowUpdate(1, 2 ** 31 - 1 - 65_535),
    settings([4, 65_536]),
  ], connectionError("FLOW_CONTROL_ERROR", 1)],
  ["§6.10 a block over several CONTINUATION frames is one request", [
    headers(1, getBlock.slice(0, 5), flag.END_STREAM),
    continuation(1, getBlock.slice(5, 6)),
    continuation(1, bytes()),
    continuation(1, getBlock.slice(6), flag.END_HEADERS),
  ], [ok(1)]],
  [
    "§6.10 CONTINUATION on stream 0 is PROTOCOL_ERROR",
    [headers(1, getBlock, 1), continuation(0, bytes(), 4)],
    connectionError("PROTOCOL_ERROR"),
  ],
  [
    "§6.10 CONTINUATION of another stream is PROTOCOL_ERROR",
    [headers(1, getBlock, 1), continuation(3, bytes(), 4)],
    connectionError("PROTOCOL_ERROR"),
  ],
  ["§6.10 CONTINUATION after a finished block is PROTOCOL_ERROR", [
    headers(1, postBlock, 0),
    continuation(1, bytes(), 4),
    continuation(1, bytes(), 4),
  ], connectionError("PROTOCOL_ERROR", 1)],
  [
    "§6.10 CONTINUATION after DATA is PROTOCOL_ERROR",
    [opened, data(1, eight), continuation(1, bytes(), 4)],
    connectionError("PROTOCOL_ERROR", 1),
  ],
  [
    "§7 an unknown error code in RST_STREAM is no error",
    [opened, rstStream(1, 0xff), ping(eight)],
    ["PING ACK"],
  ],
];

const malformed = streamError("PROTOCOL_ERROR");
const without = (name: string): Bytes =>
  headers(1, block(...getFields.filter(([other]) => other !== name)));
const withField = (name: string, value: string): Bytes =>
  headers(1, block(...getFields, [name, value]));
const replaced = (name: string, value: string): Bytes =>
  headers(
    1,
    block(
      ...getFields.map(([other, old]): [string, string] => [other, other === name ? value : old]),
    ),
  );

const messages: readonly Case[] = [
  [
    "§8.1 trailers without END_STREAM are malformed",
    [opened, headers(1, block(["x", "y"]), open)],
    malformed,
  ],
  ["§8.1 trailers with a pseudo-header are malformed", [
    opened,
    headers(1, block([":method", "GET"])),
  ], malformed],
  ["§8.1 trailers are accepted", [opened, data(1, eight), headers(1, block(["x", "y"]))], [ok(1)]],
  ["§8.1.1 a body shorter than content-length is malformed", [
    headers(1, block(...postFields, ["content-length", "9"]), open),
    data(1, eight, 1),
  ], malformed],
  ["§8.1.1 a body longer than content-length is malformed", [
    headers(1, block(...postFields, ["content-length", "7"]), open),
    data(1, eight),
  ], malformed],
  ["§8.1.1 several DATA frames that miss content-length are malformed", [
    headers(1, block(...postFields, ["content-length", "9"]), open),
    data(1, eight.slice(4)),
    data(1, eight.slice(4), 1),
  ], malformed],
  ["§8.1.1 no body where content-length promised one is malformed", [
    headers(1, block(...postFields, ["content-length", "1"])),
  ], malformed],
  ["§8.1.1 trailers that end a short body are malformed", [
    headers(1, block(...postFields, ["content-length", "9"]), open),
    data(1, eight),
    headers(1, block(["x", "y"])),
  ], malformed],
  [
    "§8.1.1 a content-length that is no number is malformed",
    [withField("content-length", "1, 1")],
    malformed,
  ],
  ["§8.1.1 two different content-lengths are malformed", [
    headers(1, block(...postFields, ["content-length", "8"], ["content-length", "9"]), open),
  ], malformed],
  ["§8.2.1 an upper-case name is malformed", [withField("X-TEST", "ok")], malformed],
  ["§8.2.1 an empty name is malformed", [withField("", "ok")], malformed],
  ["§8.2.1 a space in a name is malformed", [withField("x test", "ok")], malformed],
  ["§8.2.1 a colon inside a name is malformed", [withField("x:test", "ok")], malformed],
  ["§8.2.1 a byte above ASCII in a name is malformed", [withField("x-\xe9", "ok")], malformed],
  ["§8.2.1 a line feed in a value is malformed", [withField("x-test", "a\nb")], malformed],
  ["§8.2.1 a carriage return in a value is malformed", [withField("x-test", "a\rb")], malformed],
  ["§8.2.1 a NUL in a value is malformed", [withField("x-test", "a\0b")], malformed],
  ["§8.2.1 a value that begins with a space is malformed", [withField("x-test", " a")], malformed],
  ["§8.2.1 a value that ends with a tab is malformed", [withField("x-test", "a\t")], malformed],
  ["§8.2.1 an empty value is accepted", [withField("x-test", "")], [ok(1)]],
  ["§8.2.2 connection is malformed", [withField("connection", "keep-alive")], malformed],
  ["§8.2.2 keep-alive is malformed", [withField("keep-alive", "timeout=5")], malformed],
  [
    "§8.2.2 proxy-connection is malformed",
    [withField("proxy-connection", "keep-alive")],
    malformed,
  ],
  ["§8.2.2 transfer-encoding is malformed", [withField("transfer-encoding", "chunked")], malformed],
  ["§8.2.2 upgrade is malformed", [withField("upgrade", "h2c")], malformed],
  ["§8.2.2 te other than trailers is malformed", [withField("te", "trailers, deflate")], malformed],
  ["§8.2.2 te: trailers is accepted", [withField("te", "trailers")], [ok(1)]],
  ["§8.2.2 a connection-specific trailer is malformed", [
    opened,
    headers(1, block(["upgrade", "h2c"])),
  ], malformed],
  ["§8.3 an unknown pseudo-header is malformed", [withField(":test", "ok")], malformed],
  ["§8.3 a response's pseudo-header is malformed", [withField(":status", "200")], malformed],
  ["§8.3 a pseudo-header after a regular field is malformed", [
    headers(1, block(...getFields.slice(0, 3), ["x", "y"], [":authority", "localhost"])),
  ], malformed],
  ["§8.3 a repeated :method is malformed", [withField(":method", "GET")], malformed],
  ["§8.3 a repeated :scheme is malformed", [withField(":scheme", "https")], malformed],
  ["§8.3 a repeated :path is malformed", [withField(":path", "/")], malformed],
  ["§8.3 a repeated :authority is malformed", [withField(":authority", "localhost")], malformed],
  ["§8.3.1 a missing :method is malformed", [without(":method")], malformed],
  ["§8.3.1 a missing :scheme is malformed", [without(":scheme")], malformed],
  ["§8.3.1 a missing :path is malformed", [without(":path")], malformed],
  ["§8.3.1 an empty :path is malformed", [replaced(":path", "")], malformed],
  [
    "§8.3.1 a :path that does not begin with a slash is malformed",
    [replaced(":path", "health")],
    malformed,
  ],
  ["§8.3.1 the :path * belongs to OPTIONS", [replaced(":path", "*")], malformed],
  ["§8.3.1 a missing :authority is allowed", [without(":authority")], [ok(1)]],
  [
    "§8.3.1 user information in :authority is malformed",
    [replaced(":authority", "user@localhost")],
    malformed,
  ],
  [
    "§8.3.1 a Host that differs from :authority is malformed",
    [withField("host", "elsewhere")],
    malformed,
  ],
  ["§8.3.1 a Host that agrees is accepted", [withField("host", "LOCALHOST")], [ok(1)]],
  ["§8.4 a client cannot be pushed to after ENABLE_PUSH 1", [settings([2, 1]), answered], [
    "SETTINGS ACK",
    ok(1),
  ]],
  ["§8.5 CONNECT with a :path is malformed", [replaced(":method", "CONNECT")], malformed],
  ["§8.5 CONNECT without :scheme and :path is a request", [
    headers(1, block([":method", "CONNECT"], [":authority", "localhost:1"])),
  ], [ok(1)]],
];

const hpack: readonly Case[] = [
  [
    "RFC 7541 §2.3.3 an index beyond both tables is COMPRESSION_ERROR",
    [headers(1, bytes(0xff, 0x10))],
    connectionError("COMPRESSION_ERROR"),
  ],
  ["RFC 7541 §4.2 a size update above the limit is COMPRESSION_ERROR", [
    headers(1, concat(bytes(0x3f, 0xe2, 0x1f), getBlock)),
  ], connectionError("COMPRESSION_ERROR")],
  [
    "RFC 7541 §4.2 a size update after a field is COMPRESSION_ERROR",
    [headers(1, concat(getBlock, bytes(0x20)))],
    connectionError("COMPRESSION_ERROR"),
  ],
  ["RFC 7541 §4.2 size updates at the start are accepted", [
    headers(1, concat(bytes(0x20, 0x3f, 0xe1, 0x1f), getBlock)),
  ], [ok(1)]],
  ["RFC 7541 §5.1 an integer that overflows is COMPRESSION_ERROR", [
    headers(1, bytes(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f)),
  ], connectionError("COMPRESSION_ERROR")],
  ["RFC 7541 §5.1 an integer of endless zeros is COMPRESSION_ERROR", [
    headers(1, bytes(0xff, ...new Array(64).fill(0x80), 0)),
  ], connectionError("COMPRESSION_ERROR")],
  [
    "RFC 7541 §5.2 a string longer than its block is COMPRESSION_ERROR",
    [headers(1, bytes(0x00, 0x05, 0x61))],
    connectionError("COMPRESSION_ERROR"),
  ],
  ["RFC 7541 §5.2 Huffman padding longer than 7 bits is COMPRESSION_ERROR", [
    headers(1, bytes(0x00, 0x82, 0x1f, 0xff, 0x00)),
  ], connectionError("COMPRESSION_ERROR")],
  ["RFC 7541 §5.2 Huffman padding that is not all ones is COMPRESSION_ERROR", [
    headers(1, bytes(0x00, 0x81, 0x18, 0x00)),
  ], connectionError("COMPRESSION_ERROR")],
  ["RFC 7541 §5.2 EOS inside a Huffman string is COMPRESSION_ERROR", [
    headers(1, bytes(0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x00)),
  ], connectionError("COMPRESSION_ERROR")],
  [
    "RFC 7541 §6.1 index 0 is COMPRESSION_ERROR",
    [headers(1, bytes(0x80))],
    connectionError("COMPRESSION_ERROR"),
  ],
];

for (
  const [requirement, sent, expected] of [
    ...framing,
    ...streamStates,
    ...frames,
    ...messages,
    ...hpack,
  ]
) {
  Deno.test(`RFC 9113: ${requirement}`, async () => {
    const peer = Peer.connected();
    peer.send(...sent);
    assertEquals(await peer.conversation(), [...expected]);
    assertEquals(peer.ended, expected.some((line) => line.startsWith("GOAWAY")));
    assertEquals(peer.faults, []);
  });

  Deno.test(`RFC 9113, byte by byte: ${requirement}`, async () => {
    const peer = Peer.connected();
    for (const byte of concat(...sent)) peer.connection.receive(bytes(byte));
    assertEquals(await peer.conversation(), [...expected]);
  });
}

Deno.test("RFC 9113: §3.4 the server's first frame is SETTINGS with its limits", async () => {
  const [first] = await new Peer().settled();
  assert(first !== undefined && first.type === type.SETTINGS && first.flags === 0);
  const entries = Array.from({ length: first.payload.length / 6 }, (_, i) => [
    readUint32(first.payload, i * 6) >>> 16,
    readUint32(first.payload, i * 6 + 2),
  ]);
  assertEquals(entries, [[3, 512], [4, 262_144], [6, 32_768], [9, 1]]);
});

for (
  const [what, sent] of [
    ["a wrong preface", new TextEncoder().encode("INVALID CONNECTION PREFACE\r\n\r\n")],
    ["an HTTP/1.1 request", new TextEncoder().encode("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")],
    ["a preface without SETTINGS", concat(preface, ping(eight))],
    ["a preface followed by an acknowledgement", concat(preface, settingsAck)],
  ] as const
) {
  Deno.test(`RFC 9113: §3.4 ${what} is PROTOCOL_ERROR`, async () => {
    const peer = new Peer();
    peer.send(sent);
    assertEquals((await peer.conversation()).slice(2), ["GOAWAY 0 PROTOCOL_ERROR"]);
    assert(peer.ended);
  });
}

Deno.test("RFC 9113: §5.1 half-closed (remote): DATA and HEADERS are STREAM_CLOSED, the rest is allowed", async () => {
  const hang = { handler: () => new Promise<never>(() => {}) };
  for (
    const [sent, expected] of [[data(1, eight, 1), "STREAM_CLOSED"], [
      headers(1, getBlock),
      "STREAM_CLOSED",
    ]] as const
  ) {
    const peer = Peer.connected(hang);
    peer.send(answered, sent);
    assertEquals(await peer.conversation(), [`RST_STREAM 1 ${expected}`]);
  }
  const peer = Peer.connected(hang);
  peer.send(answered, windowUpdate(1, 1), priority(1, 0), rstStream(1, 8), ping(eight));
  assertEquals(await peer.conversation(), ["PING ACK"]);
});

Deno.test("RFC 9113: §5.1 closed: DATA and HEADERS after both sides ended are connection errors, control frames are not", async () => {
  for (const late of [data(1, eight, 1), headers(1, getBlock)]) {
    const peer = Peer.connected();
    peer.send(answered);
    assertEquals(await peer.conversation(), [ok(1)]);
    peer.send(late);
    assertEquals(await peer.conversation(), ["GOAWAY 1 STREAM_CLOSED"]);
  }
  const peer = Peer.connected();
  peer.send(answered);
  await peer.settled();
  peer.send(windowUpdate(1, 1), rstStream(1, 8), priority(1, 0), ping(eight));
  assertEquals(await peer.conversation(), ["PING ACK"]);
});

Deno.test("RFC 9113: §5.1 what a client sends after our RST_STREAM is ignored", async () => {
  const peer = Peer.connected();
  peer.send(opened, windowUpdate(1, 0));
  assertEquals(await peer.conversation(), streamError("PROTOCOL_ERROR"));
  peer.send(data(1, eight), headers(1, block(["x", "y"])), windowUpdate(1, 1), ping(eight));
  assertEquals(await peer.conversation(), ["PING ACK"]);
});

Deno.test("RFC 9113: §5.1.2 a stream above MAX_CONCURRENT_STREAMS is refused, the others live", async () => {
  const peer = Peer.connected({ budgets: { concurrentStreams: 2 } });
  peer.send(headers(1, postBlock, open), headers(3, postBlock, open), headers(5, getBlock));
  assertEquals(await peer.conversation(), ["RST_STREAM 5 REFUSED_STREAM"]);
  peer.send(data(1, eight, 1), data(3, eight, 1));
  assertEquals(await peer.conversation(), [ok(1), ok(3)]);
});

Deno.test("RFC 9113: §5.4.1 after a connection error nothing is processed", async () => {
  const peer = Peer.connected();
  peer.send(data(0, eight), headers(1, getBlock), ping(eight));
  peer.send(headers(3, getBlock), ping(eight));
  assertEquals(await peer.conversation(), connectionError("PROTOCOL_ERROR"));
  assertEquals(peer.requests.length, 0);
});

Deno.test("RFC 9113: §6.7 PING is answered with the same eight bytes", async () => {
  const peer = Peer.connected();
  peer.send(ping(eight));
  const [answer] = await peer.settled();
  assertEquals(answer?.payload, eight);
});

Deno.test("RFC 9113: §6.8 after a client's GOAWAY its open streams are served, then the connection ends", async () => {
  const peer = Peer.connected();
  peer.send(opened, goaway(0, code.NO_ERROR));
  assertEquals(await peer.conversation(), ["GOAWAY 2147483647 NO_ERROR", "PING"]);
  peer.send(data(1, eight, 1), ping(new TextEncoder().encode("shutdown"), flag.ACK));
  assertEquals(await peer.conversation(), ["GOAWAY 1 NO_ERROR", ok(1)]);
  assert(peer.ended);
});

Deno.test("RFC 9113: §8.1 a client that is still sending when it is answered is asked to stop, in a later write", async () => {
  const peer = Peer.connected({
    handler: () => ({ status: 200, body: eight, trailers: [["x", "y"]] }),
  });
  peer.send(opened);
  assertEquals(await peer.conversation(), ["HEADERS 1", "DATA 1 8", "HEADERS 1 END_STREAM"]);
  assertEquals(await peer.conversation(), ["RST_STREAM 1 NO_ERROR"]);
  peer.send(data(1, eight), data(1, eight, 1), windowUpdate(1, 1), ping(eight));
  assertEquals(await peer.conversation(), ["PING ACK"]);
});

Deno.test("RFC 9113: §8.1 request trailers reach the handler, response trailers the client", async () => {
  const peer = Peer.connected({
    handler: async ({ body }) => {
      for await (const _ of body) { /* to the end */ }
      return {
        status: 200,
        trailers: body.trailers.map(({ name, value }) => [name, value] as const),
      };
    },
  });
  peer.send(opened, headers(1, block(["x-sum", "7"])));
  const [head, trailers] = await peer.settled();
  assert(head !== undefined && trailers !== undefined);
  assertEquals([peer.fields(head), peer.fields(trailers)], [{ ":status": "200" }, {
    "x-sum": "7",
  }]);
});

Deno.test("RFC 9113: §8.2.3 a cookie in several fields is one field again", async () => {
  const peer = Peer.connected();
  peer.send(headers(1, block(...getFields, ["cookie", "a=1"], ["x", "y"], ["cookie", "b=2"])));
  await peer.settled();
  assertEquals(
    peer.requests[0]?.headers.map(({ name, value }) => `${name}: ${value}`),
    ["x: y", "cookie: a=1; b=2"],
  );
});

Deno.test("RFC 9110: a HEAD request is answered without a body", async () => {
  const peer = Peer.connected({ handler: () => ({ status: 200, body: eight }) });
  peer.send(headers(1, block([":method", "HEAD"], ...getFields.slice(1))));
  assertEquals(await peer.conversation(), [ok(1)]);
});

Deno.test("a handler sees the request as it was sent", async () => {
  const peer = Peer.connected({ handler: okHandler });
  peer.send(headers(1, block(...postFields, ["x-test", "1"])));
  await peer.settled();
  const [request] = peer.requests;
  assert(request !== undefined);
  const { method, scheme, path, authority, httpVersion, remoteAddress } = request;
  assertEquals(
    { method, scheme, path, authority, httpVersion, remoteAddress },
    {
      method: "POST",
      scheme: "https",
      path: "/",
      authority: "localhost",
      httpVersion: "2.0",
      remoteAddress: "192.0.2.1",
    },
  );
});
