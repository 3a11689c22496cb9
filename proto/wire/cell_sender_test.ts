import { assert, assertEquals, assertThrows } from "@std/assert";
import { createRandom, seedFromEnvironment, SimulatedClock } from "../../tests/support/mod.ts";
import { cellHeaderBytes, CellReader } from "./cell.ts";
import { CellSender, type CellSenderOptions } from "./cell_sender.ts";
import { WireError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";

const cellBytes = limits.minCellBytes;

interface Written {
  readonly atMs: number;
  readonly cells: number;
  readonly cellBytes: number;
  readonly cover: boolean;
}

/** A sender on simulated time, and what its peer reads. */
class Bench {
  readonly clock = new SimulatedClock(0);
  readonly written: Written[] = [];
  readonly received: number[] = [];
  readonly reader = new CellReader({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
  /** The transport takes nothing while this is set. */
  blocked: PromiseWithResolvers<void> | undefined;
  readonly sender: CellSender;

  constructor(options: Partial<CellSenderOptions> = {}) {
    this.sender = new CellSender({
      cellBytes,
      write: async (bytes, size) => {
        assertEquals(bytes.length % size, 0);
        const cover = bytes.every((byte) => byte === 0);
        this.written.push({
          atMs: this.clock.nowMs(),
          cells: bytes.length / size,
          cellBytes: size,
          cover,
        });
        const kept = bytes.slice();
        await this.blocked?.promise;
        assertEquals(bytes, kept, "the sender touched what the transport still holds");
        this.reader.read(kept, ({ length }) => this.received.push(length));
      },
      after: this.clock.after,
      nowMs: this.clock.nowMs,
      random: () => 0.5,
      ...options,
    });
  }

  get times(): number[] {
    return this.written.map(({ atMs }) => atMs);
  }
}

Deno.test("without cover envelopes leave at once, and those of one turn share a cell", async () => {
  const { sender, clock, written, received } = new Bench();
  sender.push("control", new Uint8Array(10));
  sender.push("control", new Uint8Array(20));
  assertEquals(sender.pendingBytes, 38);
  await clock.settle();
  assertEquals(written, [{ atMs: 0, cells: 1, cellBytes, cover: false }]);
  assertEquals(received, [10, 20]);
  assertEquals(sender.pendingBytes, 0);
  assertEquals(clock.timers, 0);
});

Deno.test("one write at a time: what comes meanwhile waits, counts as pending, and leaves in few writes", async () => {
  const bench = new Bench();
  const { sender, clock, written } = bench;
  bench.blocked = Promise.withResolvers();
  sender.push("data", new Uint8Array(900));
  await clock.settle();
  for (let i = 0; i < 500; i++) sender.push("data", new Uint8Array(900));
  await clock.settle();
  assertEquals(written.length, 1);
  assertEquals(sender.pendingBytes, 501 * 904);
  bench.blocked.resolve();
  bench.blocked = undefined;
  await clock.settle();
  assertEquals(bench.received.length, 501);
  assertEquals(sender.pendingBytes, 0);
  assert(
    written.length < 12 && written.every(({ cells }) => cells * cellBytes <= 65_536),
    `${written.length} writes`,
  );
});

Deno.test("control overtakes data that has not been written", async () => {
  const bench = new Bench();
  bench.blocked = Promise.withResolvers();
  bench.sender.push("data", new Uint8Array(1));
  await bench.clock.settle();
  bench.sender.push("data", new Uint8Array(200_000));
  bench.sender.push("control", new Uint8Array(7));
  bench.blocked.resolve();
  bench.blocked = undefined;
  await bench.clock.settle();
  assertEquals(bench.received, [1, 7, 200_000]);
});

Deno.test("a new cell size applies to what was pushed after it, and to nothing before", async () => {
  const bench = new Bench({ random: () => 0 });
  const { sender, clock } = bench;
  sender.push("control", new Uint8Array(1500));
  sender.setCellBytes(2048);
  sender.push("control", new Uint8Array(10));
  sender.setCellBytes(4096);
  sender.push("data", new Uint8Array(11));
  sender.push("control", new Uint8Array(12));
  assertEquals(sender.pendingBytes, 1504 + 14 + 15 + 16);
  assertThrows(() => sender.push("data", new Uint8Array(0)), WireError);
  assertThrows(() => sender.setCellBytes(10), WireError);
  const sizes: number[] = [];
  const original = bench.reader.read.bind(bench.reader);
  bench.reader.read = (chunk, onEnvelope) =>
    original(chunk, (envelope, lane) => {
      onEnvelope(envelope, lane);
      sizes.push(envelope.length);
      if (envelope.length === 1500) {
        bench.reader.configure({ cellBytes: 2048, maxEnvelopeBytes: 5000 });
      }
      if (envelope.length === 10) {
        bench.reader.configure({ cellBytes: 4096, maxEnvelopeBytes: 5000 });
      }
    });
  await clock.settle();
  assertEquals(bench.written.map((write) => [write.cells, write.cellBytes]), [
    [2, 1024],
    [1, 2048],
    [2, 4096],
  ]);
  assertEquals(sizes, [1500, 10, 12, 11]);
  sender.configure("constant", 100);
  await clock.advance(100);
  assertEquals(bench.written.at(-1), { atMs: 100, cells: 1, cellBytes: 4096, cover: true });
});

Deno.test("poisson: cover comes at exponential intervals and real cells do not wait for it", async () => {
  const draws = [0.5, 0, 0.9, 0.5, 0.5];
  const bench = new Bench({ random: () => draws.shift() ?? 0.5 });
  bench.sender.configure("poisson", 1000);
  await bench.clock.advance(100);
  bench.sender.push("data", new Uint8Array(2500));
  await bench.clock.advance(3000);
  const exponential = [0.5, 0, 0.9].map((u) => -Math.log(1 - u) * 1000);
  const expected = exponential.map((_, i) =>
    exponential.slice(0, i + 1).reduce((sum, ms) => sum + ms)
  );
  const cover = bench.written.filter((write) => write.cover).map(({ atMs }) => Math.round(atMs));
  assertEquals(cover, expected.map(Math.round));
  assertEquals(bench.written[0], { atMs: 100, cells: 3, cellBytes, cover: false });
});

Deno.test("poisson: a transport that takes nothing is owed one cover cell at most", async () => {
  const bench = new Bench();
  bench.sender.configure("poisson", 10);
  bench.blocked = Promise.withResolvers();
  await bench.clock.advance(10_000);
  assertEquals(bench.written.length, 1);
  bench.blocked.resolve();
  bench.blocked = undefined;
  await bench.clock.settle();
  assertEquals(bench.written.length, 2);
});

Deno.test("constant: every tick carries exactly one cell, idle or busy, at the same times", async () => {
  const random = createRandom(seedFromEnvironment());
  const draws = Array.from({ length: 1_000 }, () => random.below(1_000) / 1_000);
  const bench = (): Bench => {
    let next = 0;
    return new Bench({ random: () => draws[next++] ?? 0 });
  };
  const [idle, busy] = [bench(), bench()];
  for (const bench of [idle, busy]) bench.sender.configure("constant", 250);
  for (let step = 0; step < 200; step++) {
    if (random.chance(0.3)) busy.sender.push("data", random.bytes(1 + random.below(4000)));
    const ms = random.below(400);
    await idle.clock.advance(ms);
    await busy.clock.advance(ms);
  }
  assertEquals(busy.times, idle.times, `seed ${random.seed}`);
  assert(busy.written.every(({ cells }) => cells === 1));
  assertEquals(idle.times, idle.times.map((_, i) => (i + 1) * 250 - (draws[i] ?? 0) * 125));
  assert(busy.received.length > 10);
});

Deno.test("constant: a late timer neither shifts the grid nor sends twice to catch up", async () => {
  const bench = new Bench({ random: () => 0 });
  bench.sender.configure("constant", 100);
  bench.sender.push("data", new Uint8Array(5000));
  await bench.clock.advance(200);
  bench.clock.stall(470);
  await bench.clock.advance(0);
  await bench.clock.advance(230);
  assertEquals(bench.times, [100, 200, 670, 720, 800, 900]);
});

Deno.test("constant: a clock that is set back or forward costs one slot, not the difference", async () => {
  let offMs = 0;
  const clock = new SimulatedClock(0);
  const bench = new Bench({
    random: () => 0,
    after: clock.after,
    nowMs: () => clock.nowMs() + offMs,
  });
  bench.sender.configure("constant", 100);
  await clock.advance(250);
  for (const stepMs of [-3_600_000, 7_200_000]) {
    offMs += stepMs;
    const before = bench.written.length;
    await clock.advance(1_000);
    const cells = bench.written.length - before;
    assert(cells >= 9 && cells <= 11, `${cells} cells`);
  }
});

Deno.test("constant: without cover a tick carries what waits or nothing, and poisson sends only what is real", async () => {
  let draw = 0;
  const bench = new Bench({ random: () => draw });
  bench.sender.configure("constant", 100);
  await bench.clock.advance(200);
  bench.sender.setCovering(false);
  await bench.clock.advance(150);
  bench.sender.push("data", new Uint8Array(2 * cellBytes));
  await bench.clock.advance(450);
  assertEquals(bench.written.map(({ atMs, cover }) => [atMs, cover]), [
    [100, true],
    [200, true],
    [400, false],
    [500, false],
    [600, false],
  ]);
  draw = 0.5;
  bench.sender.configure("poisson", 10);
  bench.sender.push("data", new Uint8Array(10));
  await bench.clock.advance(1_000);
  assertEquals(bench.written.length, 6);
  bench.sender.setCovering(true);
  await bench.clock.advance(100);
  assert(bench.written.length > 6);
});

Deno.test("changing the mode takes effect at once and forgets no envelope", async () => {
  const bench = new Bench({ random: () => 0 });
  bench.sender.configure("constant", 1000);
  bench.sender.push("data", new Uint8Array(3000));
  await bench.clock.advance(1000);
  bench.sender.configure("off", 0);
  await bench.clock.settle();
  assertEquals(bench.received, [3000]);
  assertEquals(bench.clock.timers, 0);
  assertThrows(() => bench.sender.configure("constant", 0), RangeError);
});

Deno.test("flush() tells whether everything was written in time", async () => {
  const bench = new Bench();
  assertEquals(await bench.sender.flush(10), true);
  bench.sender.push("data", new Uint8Array(3000));
  assertEquals(await bench.sender.flush(10), true);
  bench.sender.configure("constant", 100);
  bench.sender.push("data", new Uint8Array(3000));
  const [soon, later] = [bench.sender.flush(150), bench.sender.flush(500)];
  await bench.clock.advance(600);
  assertEquals([await soon, await later], [false, true]);
  bench.blocked = Promise.withResolvers();
  bench.sender.push("data", new Uint8Array(1));
  const never = bench.sender.flush(1000);
  bench.sender.stop();
  assertEquals(await never, false);
  bench.blocked.resolve();
});

Deno.test("stop() ends timers and writing; pushing afterwards is harmless", async () => {
  const bench = new Bench();
  bench.sender.configure("poisson", 10);
  bench.sender.push("data", new Uint8Array(10));
  bench.sender.stop();
  bench.sender.push("data", new Uint8Array(10));
  bench.sender.configure("constant", 10);
  await bench.clock.advance(1000);
  assertEquals(bench.written, []);
  assertEquals(bench.clock.timers, 0);
});

Deno.test("a rejected write is reported once and stops the sender", async () => {
  const faults: unknown[] = [];
  const lost = new Error("lost");
  const bench = new Bench({
    write: () => Promise.reject(lost),
    onFailed: (error) => faults.push(error),
  });
  bench.sender.configure("constant", 10);
  bench.sender.push("data", new Uint8Array(10));
  await bench.clock.advance(100);
  assertEquals(faults, [lost]);
  assertEquals(bench.clock.timers, 0);
});

Deno.test("cells, cover and fill are counted, and onWritten follows every write", async () => {
  let writes = 0;
  const bench = new Bench({ onWritten: () => writes++ });
  bench.sender.push("data", new Uint8Array(100));
  await bench.clock.settle();
  bench.sender.configure("constant", 10);
  await bench.clock.advance(30);
  const paddingBytes = cellBytes - cellHeaderBytes - 104;
  assertEquals(bench.sender.counts, {
    cells: 4,
    coverCells: 3,
    coverBytes: 3 * cellBytes,
    paddingBytes,
  });
  assertEquals(writes, 4);
  assertEquals(bench.reader.counts, bench.sender.counts);
});
