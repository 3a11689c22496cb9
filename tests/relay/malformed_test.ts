// Calls whose bytes are wrong, in each dialect of the gRPC port, over real HTTP/2: who is told
// what, in which words.
import { assert, assertEquals } from "@std/assert";
import { HpackDecoder } from "../../proto/http2/mod.ts";
import { RawClient } from "../support/http2/raw_client.ts";
import {
  block,
  type Bytes,
  concat,
  data,
  describe,
  flag,
  headers,
  ping,
  type,
  uint32,
  type WireFrame,
} from "../support/http2/wire.ts";
import { startTestRelay, type TestRelay } from "../support/relay/test_relay.ts";

interface Dialect {
  readonly name: string;
  /** Of a call with one answer, and of one with a stream of them. */
  readonly types: readonly [unary: string, stream: string];
  /** Longer than any timer can wait. */
  readonly deadline: readonly [name: string, value: string];
  readonly isFramed: readonly [unary: boolean, stream: boolean];
}

const grpcDeadline = ["grpc-timeout", "99999999H"] as const;
const dialects: readonly Dialect[] = [
  {
    name: "Connect",
    types: ["application/proto", "application/connect+proto"],
    deadline: ["connect-timeout-ms", "9999999999"],
    isFramed: [false, true],
  },
  {
    name: "gRPC-Web",
    types: ["application/grpc-web+proto", "application/grpc-web+proto"],
    deadline: grpcDeadline,
    isFramed: [true, true],
  },
  {
    name: "gRPC",
    types: ["application/grpc", "application/grpc"],
    deadline: grpcDeadline,
    isFramed: [true, true],
  },
];

/**
 * A field of two bytes with one of them; a tag without a value; a wire type that does not exist.
 */
const wrong = [[0x0a, 2, 1], [0x08], [0x0f]].map((bytes) => new Uint8Array(bytes));

/** The most that a frame has. */
const frameBytes = 16_384;
/**
 * Of a request with one cell, whose first field it is: far above a cell, and below what a
 * stranger's connection takes at once.
 */
const hugeCell = concat(new Uint8Array([0x0a, 0xc0, 0xb8, 0x02]), new Uint8Array(40_000));

/** Not compressed, with its length. */
function framed(message: Uint8Array): Bytes {
  return concat(new Uint8Array(1), uint32(message.length), message);
}

function fieldsOf(
  { types, deadline }: Dialect,
  path: string,
  kind: 0 | 1,
): (readonly [string, string])[] {
  return [
    [":method", "POST"],
    [":scheme", "https"],
    [":authority", "localhost"],
    [":path", path],
    ["content-type", types[kind]],
    ["te", "trailers"],
    deadline,
  ];
}

/**
 * Everything that is answered, as text: fields, content, trailers, and what is in base64 in any of
 * them.
 */
async function call(
  relay: TestRelay,
  dialect: Dialect,
  method: string,
  message: Uint8Array,
): Promise<string> {
  using client = await RawClient.open({
    port: relay.edge.grpcPort,
    certificate: relay.certificate,
  });
  const kind = ["Deliver", "Session"].includes(method) ? 1 : 0;
  const fields = fieldsOf(dialect, `/static.relay.v1.Relay/${method}`, kind);
  const body = dialect.isFramed[kind] ? framed(message) : message;
  await client.send(headers(1, block(...fields), flag.END_HEADERS));
  for (let at = 0; at < body.length; at += frameBytes) {
    const isLast = at + frameBytes >= body.length;
    await client.send(data(1, body.subarray(at, at + frameBytes), isLast ? flag.END_STREAM : 0));
  }
  const decoder = new HpackDecoder(65_536);
  let text = "";
  for (let ended = false; !ended;) {
    const frames = await client.read();
    assert(frames.length > 0, `the relay closed the connection after: ${text}`);
    for (const frame of frames.filter(({ streamId }) => streamId === 1)) {
      if (frame.type === type.HEADERS) {
        text += `${
          JSON.stringify(decoder.decode(frame.payload, 0, frame.payload.length).fields)
        }\n`;
      }
      if (frame.type === type.DATA) text += `${new TextDecoder().decode(frame.payload)}\n`;
      ended ||= frame.type === type.RST_STREAM;
      ended ||= [type.HEADERS, type.DATA].some((each) => each === frame.type) &&
        (frame.flags & flag.END_STREAM) !== 0;
    }
  }
  const encoded = text.match(/[\w+/-]{16,}/g) ?? [];
  return text + encoded.map((part) => new TextDecoder().decode(decodeLoosely(part))).join("\n");
}

function decodeLoosely(base64: string): Uint8Array {
  const cut = base64.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.fromBase64(cut.slice(0, cut.length - cut.length % 4));
}

for (const dialect of dialects) {
  Deno.test(`${dialect.name}: bytes that are no message are the caller's invalid_request, and nothing internal`, async () => {
    await using relay = await startTestRelay();
    for (const method of ["GetChallenge", "Ping", "CellUp", "Deliver", "Session"]) {
      for (const message of wrong) {
        const answer = await call(relay, dialect, method, message);
        assert(answer.includes("invalid_request"), `${method}: ${answer}`);
        assert(!/internal|parse binary/.test(answer), `${method}: ${answer}`);
      }
    }
    assertEquals(relay.edge.stats().typedSessions, 0);
  });

  Deno.test(`${dialect.name}: a cell that is too large has the code of everything that is too large`, async () => {
    await using relay = await startTestRelay();
    for (const method of ["CellUp", "Session"]) {
      const answer = await call(relay, dialect, method, hugeCell);
      assert(answer.includes("payload_too_large"), `${method}: ${answer}`);
      assert(!answer.includes("invalid_request"), `${method}: ${answer}`);
    }
  });

  Deno.test(`${dialect.name}: a deadline that no timer can wait for is no deadline in the past`, async () => {
    await using relay = await startTestRelay();
    using client = await RawClient.open({
      port: relay.edge.grpcPort,
      certificate: relay.certificate,
    });
    const path = "/grpc.health.v1.Health/Watch";
    const fields = fieldsOf(dialect, path, 1);
    await client.send(
      headers(1, block(...fields), flag.END_HEADERS),
      data(1, framed(new Uint8Array(0)), flag.END_STREAM),
    );
    const frames: WireFrame[] = [];
    while (!frames.some((frame) => frame.streamId === 1 && frame.type === type.DATA)) {
      frames.push(...await client.read());
    }
    // wait: a timer beyond its range ends within a millisecond
    await new Promise((resolve) => setTimeout(resolve, 50));
    await client.send(ping(new Uint8Array(8)));
    while (!frames.some((frame) => frame.type === type.PING)) frames.push(...await client.read());
    assertEquals(frames.filter(({ streamId }) => streamId === 1).map(describe), [
      "HEADERS 1",
      "DATA 1 7",
    ]);
  });
}
