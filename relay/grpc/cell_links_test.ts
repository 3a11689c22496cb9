import { ConnectError } from "@connectrpc/connect";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ErrorDetailSchema } from "../../proto/wire/grpc.ts";
import { Strangers } from "../strangers.ts";
import { createRandom, seedFromEnvironment, SimulatedClock } from "../../tests/support/mod.ts";
import { CellLinks } from "./cell_links.ts";
import type { CellClient, Upstream } from "./upstream.ts";

const cellBytes = 1024;
const link = new Uint8Array(32).fill(5);
const peer = { remoteAddress: "192.0.2.1", vouch: () => {} };

class Bench {
  readonly clock = new SimulatedClock();
  /** First bytes of the cells that arrived, in order. */
  readonly arrived: number[] = [];
  readonly clients: CellClient[] = [];
  readonly faults: unknown[] = [];
  lost = 0;
  /** Thrown at the next cell. */
  failure: Error | undefined;
  busy: Promise<void> | undefined;
  readonly links: CellLinks;

  constructor(strangers = 10) {
    const upstream: Upstream = {
      cellBytes,
      openTyped: () => {
        throw new Error("not in this test");
      },
      openCells: (client) => {
        this.clients.push(client);
        return {
          cellBytes,
          receive: (cell) => {
            if (this.failure !== undefined) throw this.failure;
            this.arrived.push(cell[0] ?? -1);
            return this.busy;
          },
          ended: () => {},
          lost: () => void this.lost++,
        };
      },
    };
    this.links = new CellLinks({
      upstream,
      strangers: new Strangers(strangers),
      idleTimeoutMs: 60_000,
      nowMs: this.clock.nowMs,
      after: this.clock.after,
      randomBytes: (length) => new Uint8Array(length),
      onFault: (error) => void this.faults.push(error),
    });
  }

  up(index: number, secret = link, length = cellBytes): Promise<void> {
    return this.links.up({
      link: secret,
      index: BigInt(index),
      cell: new Uint8Array(length).fill(index),
    }, peer);
  }

  down(signal = new AbortController().signal): AsyncGenerator<{ cell: Uint8Array }> {
    return this.links.down(link, peer, signal);
  }
}

async function failsWith(code: string, act: () => Promise<unknown>): Promise<void> {
  const error = await assertRejects(act, ConnectError);
  assertEquals(error.findDetails(ErrorDetailSchema)[0]?.code, code);
}

Deno.test("cells arrive in the order of their indexes, each once, however their requests overtake each other", async () => {
  const random = createRandom(seedFromEnvironment());
  const bench = new Bench();
  const indexes = Array.from({ length: 60 }, (_, i) => i + 1);
  const shuffled = [...indexes, ...indexes].sort(() => random.uint32() - 2 ** 31);
  await Promise.all(shuffled.map((index) => bench.up(index)));
  assertEquals(bench.arrived, indexes, `seed ${random.seed}`);
  await bench.up(61);
  assertEquals(bench.arrived.length, 61);
});

Deno.test("what is too far ahead, or has no index or link, is refused; the link goes on", async () => {
  const bench = new Bench();
  await failsWith("invalid_request", () => bench.up(65));
  await failsWith("invalid_request", () => bench.up(0));
  await failsWith("invalid_request", () => bench.up(1, new Uint8Array(31)));
  await bench.up(1);
  await bench.up(65);
  assertEquals(bench.arrived, [1]);
});

Deno.test("cells come down as they were written, and a write is done when its last cell was taken", async () => {
  const bench = new Bench();
  const stream = bench.down();
  const first = stream.next();
  const cells = new Uint8Array(2 * cellBytes).fill(1, 0, cellBytes).fill(2, cellBytes);
  let written = false;
  const write = bench.clients[0]?.write(cells, cellBytes).then(() => written = true);
  assertEquals((await first).value?.cell[0], 1);
  assertEquals((await stream.next()).value?.cell[0], 2);
  assert(!written);
  const end = stream.next();
  await write;
  bench.clients[0]?.close({ code: "session_expired", message: "renew" });
  await failsWith("session_expired", () => end);
  await failsWith("session_expired", () => bench.up(1));
});

Deno.test("a broken CellDown ends the link, and late cells do not open it again", async () => {
  const bench = new Bench();
  const controller = new AbortController();
  const next = bench.down(controller.signal).next();
  await bench.up(1);
  controller.abort();
  assertEquals((await next).done, true);
  assertEquals([bench.lost, bench.links.size], [1, 0]);
  await failsWith("transport_error", () => bench.up(2));
  assertEquals(bench.clients.length, 1);
});

Deno.test("a link has one CellDown, and one that never comes costs the link", async () => {
  const bench = new Bench();
  const stream = bench.down();
  const next = stream.next();
  await failsWith("invalid_request", () => bench.down().next());
  assertEquals(bench.lost, 0);
  bench.clients[0]?.close(undefined);
  assertEquals((await next).done, true);
  const lonely = new Bench();
  await lonely.up(1);
  await lonely.clock.advance(10_000);
  assertEquals([lonely.lost, lonely.links.size], [1, 0]);
});

Deno.test("a cell of another size ends its link with protocol_error", async () => {
  const bench = new Bench();
  const next = bench.down().next();
  await bench.up(1, link, cellBytes + 1);
  await failsWith("protocol_error", () => next);
  assertEquals([bench.lost, bench.arrived], [1, []]);
});

Deno.test("a cell of another size is not kept until its turn", async () => {
  const bench = new Bench();
  const next = bench.down().next();
  await bench.up(3, link, cellBytes + 1);
  await failsWith("protocol_error", () => next);
  assertEquals(bench.lost, 1);
});

Deno.test("links of strangers are limited", async () => {
  const bench = new Bench(1);
  await bench.up(1);
  const other = new Uint8Array(32).fill(6);
  await failsWith("overloaded", () => bench.up(1, other));
  bench.clients[0]?.authenticated();
  await bench.up(1, other);
});

Deno.test("a busy relay is given one cell after the other", async () => {
  const bench = new Bench();
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.busy = promise;
  const all = Promise.all([bench.up(1), bench.up(2), bench.up(3)]);
  await bench.clock.settle();
  assertEquals(bench.arrived, [1]);
  bench.busy = undefined;
  resolve();
  await all;
  assertEquals(bench.arrived, [1, 2, 3]);
});

Deno.test("a cell that the relay fails to take ends its link with a fault in the log, and the client is not blamed", async () => {
  const bench = new Bench();
  const down = bench.down();
  const told = failsWith("internal", () => down.next());
  bench.failure = new Error("ours");
  await bench.up(1);
  await told;
  assertEquals([bench.faults, bench.lost, bench.links.size], [[bench.failure], 1, 0]);
  await failsWith("internal", () => bench.up(2));
});
