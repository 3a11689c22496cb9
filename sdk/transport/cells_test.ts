import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRandom, seedFromEnvironment, SimulatedClock } from "../../tests/support/mod.ts";
import { StaticError } from "../base/errors.ts";
import { createCellsConnector } from "./cells.ts";
import { encodeCellFrames, encodeFrame } from "./frames.ts";
import type { CellStream } from "./transport.ts";

const cellBytes = 1024;
const random = createRandom(seedFromEnvironment());

/** The relay's side of one link: what it was sent, and what it streams down. */
class Link {
  readonly paths: string[] = [];
  readonly up: Uint8Array[] = [];
  answerUp: () => Response | Promise<Response> = () => new Response(new Uint8Array(0));
  answerDown: (() => Response) | undefined;
  down: ReadableStreamDefaultController<Uint8Array> | undefined;
  closed = false;
  aborted = false;
  /** The stream down has ended, and must not be ended again. */
  closedDown = false;
  readonly clock = new SimulatedClock();

  async connect(signal: AbortSignal = new AbortController().signal): Promise<CellStream> {
    const connector = createCellsConnector({
      openHttp: () => ({
        request: (url, init) => this.#answer(url, init),
        close: () => void (this.closed = true),
      }),
      unusable: () => undefined,
      randomBytes: (length) => random.bytes(length),
      callsAtOnce: 2,
      after: this.clock.after,
    });
    const trust = { caCerts: [], certificateHashes: [] };
    return await connector.connect({ host: "::1", port: 5000, trust }, signal);
  }

  /** As the end of a Connect stream. */
  end(json: unknown): void {
    const frame = encodeFrame(new TextEncoder().encode(JSON.stringify(json)));
    frame[0] = 2;
    this.down?.enqueue(frame);
  }

  #answer(url: string, init: RequestInit): Promise<Response> {
    this.paths.push(url);
    init.signal?.addEventListener("abort", () => {
      this.aborted = true;
      if (!this.closedDown) this.down?.error(init.signal?.reason);
      this.closedDown = true;
    });
    if (url.endsWith("CellUp")) {
      const { body } = init;
      assert(body instanceof Uint8Array && typeof body !== "string");
      this.up.push(Uint8Array.from(body));
      return Promise.resolve(this.answerUp());
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.down = controller),
    });
    return Promise.resolve(this.answerDown?.() ?? new Response(body));
  }
}

Deno.test("cells go up one call each, in order, all of one size, and come down as a stream", async () => {
  const link = new Link();
  const stream = await link.connect();
  await stream.write(random.bytes(40 * cellBytes), cellBytes);
  assertEquals(link.up.length, 40);
  assertEquals(new Set(link.up.map(({ length }) => length)).size, 1);
  assertEquals(link.paths[0], "https://[::1]:5000/static.relay.v1.Relay/CellDown");
  const cells = random.bytes(3 * cellBytes);
  const frames = encodeCellFrames(cells, cellBytes);
  link.down?.enqueue(frames.slice(0, 1500));
  assertEquals(await stream.read(), cells.slice(0, cellBytes));
  link.down?.enqueue(frames.slice(1500));
  assertEquals(await stream.read(), cells.slice(cellBytes));
  stream.close(0);
  assertEquals(await stream.read(), undefined);
  assert(link.aborted && link.closed);
});

const ends: readonly [
  what: string,
  act: (link: Link) => void,
  expected: { code?: string; text: string },
][] = [
  ["an ordinary end", (link) => link.end({}), { text: "ended the stream" }],
  [
    "an end with the relay's own reason",
    (link) => {
      const detail = Uint8Array.from([
        0x0a,
        10,
        ...new TextEncoder().encode("overloaded"),
        0x12,
        1,
        0x78,
      ]);
      const value = btoa(String.fromCharCode(...detail)).replace(/=+$/, "");
      link.end({
        error: {
          code: "unavailable",
          message: "y",
          details: [{ type: "static.relay.v1.ErrorDetail", value }],
        },
      });
    },
    { code: "overloaded", text: "x" },
  ],
  ["an error of somebody between", (link) => link.end({ error: { message: "no upstream" } }), {
    text: "no upstream",
  }],
  ["nonsense at the end", (link) => link.end("x"), { text: "ended the stream" }],
  ["a stream that is cut off", (link) => link.down?.close(), { text: "cut off" }],
  [
    "a stream that breaks",
    (link) => link.down?.error(new Error("reset", { cause: new Error("by peer") })),
    {
      text: "reset: by peer",
    },
  ],
  ["a compressed cell", (link) => link.down?.enqueue(Uint8Array.of(1, 0, 0, 0, 1, 0)), {
    text: "compressed",
  }],
  ["a message that is no cell", (link) => link.down?.enqueue(Uint8Array.of(0, 0, 0, 0, 1, 0)), {
    text: "field",
  }],
  ["a message of 4 GiB", (link) => link.down?.enqueue(Uint8Array.of(0, 255, 255, 255, 255)), {
    text: "4294967295",
  }],
];

for (const [what, act, expected] of ends) {
  Deno.test(`a stream of cells ends well after ${what}`, async () => {
    const link = new Link();
    const stream = await link.connect();
    link.closedDown = true;
    act(link);
    assertEquals(await stream.read(), undefined);
    const { code, message } = await stream.closed;
    assertEquals(code, expected.code);
    assert(message.includes(expected.text), message);
    assert(link.closed, "its connections are kept");
  });
}

Deno.test("a refused call ends the stream with the reason", async () => {
  for (const refuse of ["answerUp", "answerDown"] as const) {
    const link = new Link();
    link[refuse] = () =>
      Response.json({ code: "internal", message: "out of order" }, { status: 500 });
    const stream = await link.connect();
    await stream.write(new Uint8Array(cellBytes), cellBytes);
    assertEquals(await stream.read(), undefined);
    assertEquals((await stream.closed).message, "out of order");
    await assertRejects(() => stream.write(new Uint8Array(cellBytes), cellBytes), StaticError);
  }
});

Deno.test("a busy relay's code and time are the reason, whichever call was refused, and no other refusal of a call is", async () => {
  for (const refuse of ["answerUp", "answerDown"] as const) {
    for (
      const [status, code] of [[429, "rate_limited"], [503, "overloaded"], [
        401,
        undefined,
      ]] as const
    ) {
      const link = new Link();
      link[refuse] = () => new Response("", { status, headers: { "retry-after": "3" } });
      const stream = await link.connect();
      await stream.write(new Uint8Array(cellBytes), cellBytes);
      assertEquals(await stream.read(), undefined);
      const end = await stream.closed;
      assertEquals([end.code, end.retryAfterMs], [code, code === undefined ? undefined : 3_000]);
    }
  }
});

/** A link of which no cell is answered before the test says so. */
async function createSlow(): Promise<{ link: Link; stream: CellStream; answers: (() => void)[] }> {
  const link = new Link();
  const answers: (() => void)[] = [];
  link.answerUp = () =>
    new Promise((resolve) => answers.push(() => resolve(new Response(new Uint8Array(0)))));
  return { link, stream: await link.connect(), answers };
}

Deno.test("a cell does not wait for the answer to the one before, and never more are under way than may be", async () => {
  const { link, stream, answers } = await createSlow();
  await stream.write(random.bytes(cellBytes), cellBytes);
  let done = false;
  const writing = stream.write(random.bytes(3 * cellBytes), cellBytes).then(() => done = true);
  for (const sent of [2, 3, 4]) {
    await link.clock.settle();
    assertEquals([link.up.length, done], [sent, false]);
    answers.shift()?.();
  }
  await writing;
});

Deno.test("what is under way when the stream is closed gets its moment, and no more", async () => {
  for (const answered of [true, false]) {
    const { link, stream, answers } = await createSlow();
    await stream.write(random.bytes(cellBytes), cellBytes);
    stream.close(0);
    await stream.closed;
    assertEquals(link.aborted, false);
    if (answered) answers.shift()?.();
    else await link.clock.advance(1_000);
    assertEquals(await stream.read(), undefined);
    assert(link.aborted && link.closed);
    assertEquals(link.clock.timers, 0);
  }
});

Deno.test("an attempt that was given up opens nothing", async () => {
  const link = new Link();
  const stream = await link.connect(AbortSignal.abort());
  assertEquals(await stream.read(), undefined);
  assert(link.closed);
});
