// 100,000 frames (1,000,000 with STATIC_STRESS=1), from plausible to garbage, over connections that
// are replaced when they end: no exception escapes, no frame hangs, nothing grows.
import { assert, assertEquals, assertLess } from "@std/assert";
import {
  block,
  type Bytes,
  bytes,
  concat,
  frame,
  getFields,
  postFields,
  preface,
  settings,
  settingsAck,
  uint32,
} from "../../tests/support/http2/wire.ts";
import { placeOf } from "../../tests/support/http2/peer.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import { defaultBudgets } from "./budgets.ts";
import { Connection } from "./connection.ts";
import type { Handler } from "./handler.ts";
import { PeerBudgets } from "./peer_budgets.ts";

const totalFrames = Deno.env.get("STATIC_STRESS") === "1" ? 1_000_000 : 100_000;

/**
 * Every behaviour a handler can have: at once, later, streaming, reading, not reading, failing,
 * never answering.
 */
const handler: Handler = (request) => {
  switch (Number(request.path.slice(1)) % 6) {
    case 0:
      return { status: 200, body: new Uint8Array(10), trailers: [["grpc-status", "0"]] };
    case 1:
      return { status: 200, body: request.body };
    case 2:
      return new Promise(() => {});
    case 3:
      throw new Error("expected");
    case 4:
      return Promise.reject(new Error("expected"));
    default:
      return (async () => {
        let length = 0;
        for await (const chunk of request.body) length += chunk.length;
        return { status: 200, headers: [["x-length", String(length)]] };
      })();
  }
};

const trailerBlock = block(["x-sum", "1"]);
const requestBlocks = [getFields, postFields].flatMap((fields) =>
  Array.from(
    { length: 6 },
    (_, i) =>
      block(...fields.map(([name, value]) => [name, name === ":path" ? `/${i}` : value] as const)),
  )
);

/** Random payloads are cut out of one pool: making them byte by byte would be most of the run. */
function createPool(random: Random): (below: number) => Uint8Array {
  const pool = random.bytes(1 << 16);
  return (below) => {
    const [from, length] = [random.below(pool.length - below), random.below(below)];
    return pool.subarray(from, from + length);
  };
}

/**
 * A frame for a connection whose streams reach up to `highest`; mostly well-formed, sometimes
 * anything.
 */
function randomFrame(
  random: Random,
  payload: (below: number) => Uint8Array,
  highest: number,
): Bytes {
  const id = random.chance(0.9) ? 1 + 2 * random.below((highest + 5) / 2) : random.uint32();
  switch (random.below(14)) {
    case 0:
    case 1:
      return frame(0, random.pick([0, 0, 1, 8, 9, random.below(256)]), id, payload(100));
    case 2:
    case 3:
      return frame(1, random.pick([4, 5, 5]), highest + 2, random.pick(requestBlocks));
    case 4:
      return frame(
        1,
        random.pick([0, 4, 5, 1, 0x2d, random.below(256)]),
        id,
        random.pick([trailerBlock, payload(60)]),
      );
    case 5:
      return frame(2, 0, id, payload(8));
    case 6:
      return frame(3, 0, id, random.chance(0.95) ? uint32(random.below(20)) : payload(6));
    case 7:
      return random.chance(0.7)
        ? settings([random.below(10), random.below(70_000)])
        : frame(4, random.below(2), 0, payload(20));
    case 8:
      return frame(6, random.below(2), 0, random.chance(0.95) ? random.bytes(8) : payload(12));
    case 9:
      return frame(7, 0, 0, random.chance(0.1) ? payload(12) : bytes());
    case 10:
    case 11:
      return frame(8, 0, random.chance(0.5) ? 0 : id, uint32(random.below(100_000)));
    case 12:
      return frame(9, random.pick([0, 4]), id, payload(60));
    default:
      return frame(random.below(256), random.below(256), random.chance(0.5) ? 0 : id, payload(64));
  }
}

class Target {
  ended = false;
  readonly #tasks: (() => void)[] = [];
  readonly connection: Connection;

  constructor(faults: unknown[], clock: { nowMs: number }) {
    const peer = new PeerBudgets(defaultBudgets, () => clock.nowMs).of("");
    this.connection = new Connection({
      write: () => true,
      queuedBytes: () => 0,
      end: () => this.ended = true,
      destroy: () => this.ended = true,
    }, {
      handler,
      budgets: defaultBudgets,
      now: () => clock.nowMs,
      defer: (task) => this.#tasks.push(task),
      onFault: (error) => {
        if (!(error instanceof Error && error.message === "expected")) faults.push(error);
      },
      remoteAddress: "",
      peer,
      place: placeOf(peer, defaultBudgets),
      standingOf: (_, isVouched) => isVouched ? "member" : "stranger",
    });
    this.connection.receive(concat(preface, settings(), settingsAck));
  }

  turn(): void {
    for (const task of this.#tasks.splice(0)) task();
  }
}

Deno.test(`${totalFrames.toLocaleString("en")} fuzzed frames: no exception, no hang, no growth`, async () => {
  const random = createRandom(seedFromEnvironment());
  const payload = createPool(random);
  const faults: unknown[] = [];
  const clock = { nowMs: 0 };
  let [sent, connections, highest] = [0, 0, -1];
  let target = new Target(faults, clock);
  let settledRss = 0;
  while (sent < totalFrames) {
    const batch: Bytes[] = [];
    for (let i = 1 + random.below(8); i > 0; i--) {
      const next = randomFrame(random, payload, highest);
      if (next[3] === 1) {
        highest = Math.max(highest, ((next[7] ?? 0) << 8 | (next[8] ?? 0)) & ~1 | 1);
      }
      batch.push(next);
    }
    sent += batch.length;
    const stream = concat(...batch);
    const cut = random.chance(0.3) ? random.below(stream.length) : 0;
    target.connection.receive(stream.subarray(0, cut));
    target.connection.receive(stream.subarray(cut));
    target.turn();
    if (random.chance(0.01)) target.connection.tick(clock.nowMs += 1_000);
    if (target.ended) {
      target.connection.closed();
      assertEquals(target.connection.openStreams, 0, `seed ${random.seed}`);
      target = new Target(faults, clock);
      highest = -1;
      // Handlers run between connections, as they would between reads.
      if (++connections % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (settledRss === 0 && sent > totalFrames / 4) settledRss = Deno.memoryUsage().rss;
  }
  assertEquals(faults.map(String), [], `seed ${random.seed}`);
  assert(connections > 1_000, `only ${connections} connections were ended`);
  const grownMb = (Deno.memoryUsage().rss - settledRss) / 1e6;
  assertLess(
    grownMb,
    150,
    `grew by ${grownMb.toFixed()} MB after the first quarter, seed ${random.seed}`,
  );
});

Deno.test("random bytes after the preface end the connection and nothing else", () => {
  const random = createRandom(seedFromEnvironment());
  const faults: unknown[] = [];
  for (let round = 0; round < 2_000; round++) {
    const target = new Target(faults, { nowMs: 0 });
    for (let i = 0; i < 20 && !target.ended; i++) {
      target.connection.receive(random.bytes(1 + random.below(500)));
    }
    target.turn();
  }
  assertEquals(faults, [], `seed ${random.seed}`);
});
