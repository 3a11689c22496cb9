// The client's end of HTTP/2, against a relay that is played frame by frame, with frames that this
// code has not made.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { HpackDecoder } from "../../proto/http2/mod.ts";
import { createRandom, seedFromEnvironment, SimulatedClock } from "../../tests/support/mod.ts";
import {
  block,
  bytes,
  concat,
  continuation,
  data,
  describe,
  flag,
  frame,
  goaway,
  headers,
  parseFrames,
  ping,
  preface,
  rstStream,
  settings,
  settingsAck,
  type,
  windowUpdate,
  type WireFrame,
} from "../../tests/support/http2/wire.ts";
import { encodeCellFrames } from "./frames.ts";
import { SessionStream } from "./session_stream.ts";

const cellBytes = 1024;
/** With a cell's two heads. */
const messageBytes = 5 + 3 + cellBytes;
const initialWindow = 4;
const maxFrameSize = 5;
const random = createRandom(seedFromEnvironment());
const ok = headers(
  1,
  block([":status", "200"], ["content-type", "application/grpc"]),
  flag.END_HEADERS,
);

/** The relay's side of a connection. */
class Played {
  readonly clock = new SimulatedClock();
  readonly stream: SessionStream;
  ended = false;
  destroyed = false;
  /** Settles writes, when they do not settle at once. */
  readonly taken: (() => void)[] = [];
  isSlow = false;
  #sent = bytes();

  constructor() {
    this.stream = new SessionStream(
      {
        write: (written) => {
          if (this.destroyed) return Promise.reject(new Error("destroyed"));
          this.#sent = concat(this.#sent, written);
          return this.isSlow
            ? new Promise((resolve) => this.taken.push(resolve))
            : Promise.resolve();
        },
        end: () => void (this.ended = true),
        destroy: () => void (this.destroyed = true),
      },
      { host: "::1", port: 5000 },
      this.clock.after,
    );
  }

  /** Connected, and past the frames with which both begin. */
  static begun(): Played {
    const played = new Played();
    played.frames(preface.length);
    played.says(settings(), settingsAck, ok);
    assertEquals(played.said(), ["SETTINGS ACK"]);
    return played;
  }

  says(...frames: readonly Uint8Array[]): void {
    this.stream.receive(concat(...frames));
  }

  frames(skip = 0): WireFrame[] {
    const { frames, rest } = parseFrames(this.#sent.subarray(skip));
    assertEquals(rest.length, 0);
    this.#sent = bytes();
    return frames;
  }

  said(): string[] {
    return this.frames().map(describe);
  }
}

Deno.test("a connection begins with the preface, settings, a window of a mebibyte and the head of Session", () => {
  const played = new Played();
  const frames = played.frames(preface.length);
  assertEquals(frames.map(describe), ["SETTINGS", "WINDOW_UPDATE 0 983041", "HEADERS 1"]);
  assertEquals(frames[0]?.payload, concat(bytes(0, 2, 0, 0, 0, 0), bytes(0, 4, 0, 16, 0, 0)));
  const head = frames[2]?.payload ?? bytes();
  const { fields } = new HpackDecoder(4_096).decode(head, 0, head.length);
  assertEquals(fields.map(({ name, value }) => `${name} ${value}`), [
    ":method POST",
    ":scheme https",
    ":authority [::1]:5000",
    ":path /static.relay.v1.Relay/Session",
    "content-type application/grpc",
    "te trailers",
  ]);
});

Deno.test("cells go up and come down, however the relay's bytes are cut", async () => {
  const played = Played.begun();
  const cells = random.bytes(3 * cellBytes);
  await played.stream.write(cells, cellBytes);
  const [sent] = played.frames();
  assertEquals(sent?.payload, encodeCellFrames(cells, cellBytes));
  const answer = concat(data(1, encodeCellFrames(cells, cellBytes)), ping(new Uint8Array(8)));
  for (let at = 0; at < answer.length; at += 700) played.says(answer.subarray(at, at + 700));
  assertEquals(await played.stream.read(), cells);
  assertEquals(played.said(), ["PING ACK"]);
});

Deno.test("padding of a frame is no part of a cell", async () => {
  const played = Played.begun();
  const cell = random.bytes(cellBytes);
  const padded = concat(bytes(3), encodeCellFrames(cell, cellBytes), bytes(0, 0, 0));
  played.says(data(1, padded, flag.PADDED));
  assertEquals(await played.stream.read(), cell);
});

Deno.test("a write takes no more than the windows of stream and connection, in frames of the relay's size", async () => {
  const played = Played.begun();
  played.says(settings([initialWindow, 1_500], [maxFrameSize, 16_384]));
  let done = false;
  const writing = played.stream.write(random.bytes(2 * cellBytes), cellBytes).then(() =>
    done = true
  );
  await played.clock.settle();
  assertEquals(played.said(), ["SETTINGS ACK", "DATA 1 1500"]);
  played.says(windowUpdate(1, 100));
  await played.clock.settle();
  assertEquals([played.said(), done], [["DATA 1 100"], false]);
  played.says(settings([initialWindow, 100_000]));
  await writing;
  assertEquals(played.said(), ["SETTINGS ACK", `DATA 1 ${2 * messageBytes - 1_600}`]);
  const large = played.stream.write(random.bytes(62 * cellBytes), cellBytes);
  await played.clock.settle();
  const lengths = played.frames().map(({ payload }) => payload.length);
  assertEquals(lengths.reduce((sum, length) => sum + length), 65_535 - 2 * messageBytes);
  assert(Math.max(...lengths) === 16_384);
  played.says(windowUpdate(0, 100_000));
  await large;
});

Deno.test("a write waits until the system has taken it", async () => {
  const played = Played.begun();
  played.isSlow = true;
  let done = false;
  const writing = played.stream.write(random.bytes(cellBytes), cellBytes).then(() => done = true);
  await played.clock.settle();
  assertEquals(done, false);
  played.taken.forEach((settle) => settle());
  await writing;
});

Deno.test("the relay gets window again for what was read, and none for what was not", async () => {
  const played = Played.begun();
  const [cells, many] = [encodeCellFrames(random.bytes(15 * cellBytes), cellBytes), 40];
  for (let i = 0; i < many; i++) played.says(data(1, cells));
  assertEquals(played.said(), []);
  await played.stream.read();
  const given = `${many * cells.length}`;
  assertEquals(played.said(), [`WINDOW_UPDATE 0 ${given}`, `WINDOW_UPDATE 1 ${given}`]);
  for (let i = 0; i * cells.length <= 1024 * 1024; i++) played.says(data(1, cells));
  assert(played.said().includes("GOAWAY 0 FLOW_CONTROL_ERROR"));
});

/** `google.rpc.Status` with one detail. */
function statusOf(detail: Uint8Array): string {
  const type = new TextEncoder().encode("type.googleapis.com/static.relay.v1.ErrorDetail");
  const any = concat(bytes(0x0a, type.length), type, bytes(0x12, detail.length), detail);
  return concat(bytes(0x1a, any.length), any).toBase64({ omitPadding: true });
}
const overloaded = concat(
  bytes(0x0a, 10),
  new TextEncoder().encode("overloaded"),
  bytes(0x12, 1, 0x78),
);
const trailers = (...fields: readonly (readonly [string, string])[]): Uint8Array =>
  headers(1, block(...fields));
const busy = headers(1, block([":status", "503"], ["retry-after", "3"]), flag.END_HEADERS);

const ends: readonly [
  what: string,
  frames: readonly Uint8Array[],
  expected: { code?: string; text: string },
][] = [
  ["an ordinary end", [ok, trailers(["grpc-status", "0"])], { text: "ended the stream" }],
  ["an end with the relay's own reason", [
    ok,
    trailers(["grpc-status", "14"], ["grpc-message", "y"], [
      "grpc-status-details-bin",
      statusOf(overloaded),
    ]),
  ], { code: "overloaded", text: "x" }],
  ["an error of somebody between", [
    ok,
    trailers(["grpc-status", "14"], ["grpc-message", "no%20upstream"]),
  ], {
    text: "no upstream",
  }],
  ["an error instead of an answer", [
    trailers([":status", "200"], ["grpc-status", "12"], ["grpc-message", "unknown"]),
  ], { text: "unknown" }],
  ["trailers in several frames", [
    ok,
    headers(1, block(["grpc-status", "14"]), flag.END_STREAM),
    continuation(1, block(["grpc-message", "cut"]), flag.END_HEADERS),
  ], { text: "cut" }],
  ["a busy relay's status", [busy], { code: "overloaded", text: "503" }],
  ["another status, after an early hint", [
    headers(1, block([":status", "103"]), flag.END_HEADERS),
    headers(1, block([":status", "404"]), flag.END_HEADERS),
  ], { text: "404" }],
  ["data with the stream's end", [ok, data(1, bytes(), flag.END_STREAM)], {
    text: "ended the stream",
  }],
  ["a reset", [ok, rstStream(1, 8)], { text: "cancel" }],
  ["a goodbye that refuses the stream", [goaway(0, 7)], { text: "refusedStream" }],
];

for (const [what, frames, expected] of ends) {
  Deno.test(`a session's stream ends well after ${what}`, async () => {
    const played = new Played();
    played.frames(preface.length);
    played.says(settings(), ...frames);
    assertEquals(await played.stream.read(), undefined);
    const { code, message } = await played.stream.closed;
    assertEquals(code, expected.code);
    assert(message.includes(expected.text), message);
    await played.clock.settle();
    assertEquals(played.said().at(-1), "DATA 1 0 END_STREAM");
    assert(played.ended);
    await assertRejects(
      () => played.stream.write(random.bytes(cellBytes), cellBytes),
      Error,
      message,
    );
    await played.clock.advance(1_500);
    assert(played.destroyed);
  });
}

const cellsOf = (...values: number[]): Uint8Array => data(1, bytes(...values));
const faults: readonly [what: string, frames: readonly Uint8Array[], code: string][] = [
  ["data before an answer", [cellsOf(0)], "PROTOCOL_ERROR"],
  ["data of another stream", [ok, data(3, bytes(0))], "PROTOCOL_ERROR"],
  ["an answer to another stream", [headers(3, block([":status", "200"]))], "PROTOCOL_ERROR"],
  ["a push", [frame(type.PUSH_PROMISE, flag.END_HEADERS, 1, bytes(0, 0, 0, 2))], "PROTOCOL_ERROR"],
  ["a continuation of nothing", [continuation(1, bytes(), flag.END_HEADERS)], "PROTOCOL_ERROR"],
  [
    "a head that goes on with another frame",
    [headers(1, bytes(), 0), ping(new Uint8Array(8))],
    "PROTOCOL_ERROR",
  ],
  [
    "a head without end",
    Array.from(
      { length: 17 },
      (_, i) => i === 0 ? headers(1, bytes(), 0) : continuation(1, bytes()),
    ),
    "ENHANCE_YOUR_CALM",
  ],
  ["a head that cannot be read", [headers(1, bytes(0xff, 0xff))], "COMPRESSION_ERROR"],
  ["a window of no bytes", [windowUpdate(0, 0)], "FLOW_CONTROL_ERROR"],
  ["a window above all", [windowUpdate(1, 2 ** 31 - 1)], "FLOW_CONTROL_ERROR"],
  ["a setting above all", [settings([initialWindow, 2 ** 31])], "FLOW_CONTROL_ERROR"],
  ["half a setting", [frame(type.SETTINGS, 0, 0, bytes(0, 4, 0))], "FRAME_SIZE_ERROR"],
  ["a short ping", [ping(bytes(1))], "FRAME_SIZE_ERROR"],
  ["a frame of 16 MiB", [bytes(0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1)], "FRAME_SIZE_ERROR"],
  ["padding longer than its frame", [ok, data(1, bytes(9, 0), flag.PADDED)], "PROTOCOL_ERROR"],
  ["a compressed cell", [ok, cellsOf(1, 0, 0, 0, 1, 0)], "PROTOCOL_ERROR"],
  ["a message that is no cell", [ok, cellsOf(0, 0, 0, 0, 1, 0)], "PROTOCOL_ERROR"],
  ["a message of 4 GiB", [ok, cellsOf(0, 255, 255, 255, 255)], "PROTOCOL_ERROR"],
];

for (const [what, frames, code] of faults) {
  Deno.test(`a relay loses the connection by ${what}`, async () => {
    const played = new Played();
    played.frames(preface.length);
    played.says(settings(), ...frames);
    assertEquals(played.said().at(-1), `GOAWAY 0 ${code}`);
    assertEquals(await played.stream.read(), undefined);
    assert((await played.stream.closed).message.startsWith("the relay broke HTTP/2: "));
    await played.clock.settle();
    assert(played.ended);
    played.says(cellsOf(1, 2, 3));
    assertEquals(played.said(), []);
  });
}

Deno.test("a relay that asks for answers and does not read them loses the connection", async () => {
  const played = Played.begun();
  played.isSlow = true;
  for (let i = 0; i < 1_001; i++) played.says(ping(new Uint8Array(8)));
  assertEquals((await played.stream.closed).message, "the relay broke HTTP/2: it reads no answers");
});

Deno.test("cells that came before the end are read, and a socket that is gone ends what waits", async () => {
  const played = Played.begun();
  const cell = random.bytes(cellBytes);
  played.says(data(1, encodeCellFrames(cell, cellBytes)));
  played.stream.lost();
  assertEquals(await played.stream.read(), cell);
  assertEquals(await played.stream.read(), undefined);
  assertEquals(await played.stream.closed, { message: "the connection was cut off" });
  assertEquals(played.clock.timers, 0);

  const full = Played.begun();
  full.says(settings([initialWindow, 0]));
  const writing = full.stream.write(cell, cellBytes);
  full.stream.lost("reset by peer");
  await assertRejects(() => writing, Error, "reset by peer");
});

Deno.test("a goodbye of the relay lets the stream go on, and frames that nobody knows are ignored", async () => {
  const played = Played.begun();
  played.says(
    goaway(1, 0),
    frame(0x77, 0, 0, bytes(1)),
    frame(type.PRIORITY, 0, 1, bytes(0, 0, 0, 0, 1)),
  );
  const cell = random.bytes(cellBytes);
  played.says(data(1, encodeCellFrames(cell, cellBytes)));
  assertEquals(await played.stream.read(), cell);
});

Deno.test("close() lets what was written go first, and gives the relay its time to end", async () => {
  const played = Played.begun();
  played.says(settings([initialWindow, 500]));
  const writing = played.stream.write(random.bytes(cellBytes), cellBytes);
  played.stream.close(0);
  played.says(windowUpdate(1, 10_000));
  await writing;
  await played.clock.settle();
  assertEquals(played.said(), [
    "SETTINGS ACK",
    "DATA 1 500",
    `DATA 1 ${messageBytes - 500}`,
    "DATA 1 0 END_STREAM",
  ]);
  assertEquals([played.ended, played.destroyed], [false, false]);
  await played.clock.advance(1_500);
  assert(played.destroyed);

  const cut = Played.begun();
  cut.stream.close(1);
  assertEquals([cut.destroyed, cut.clock.timers], [true, 0]);
});
