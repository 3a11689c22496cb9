import { assertEquals, assertRejects } from "@std/assert";
import { createDeferred } from "../../base/deferred.ts";
import { StaticError } from "../../base/errors.ts";
import { parseChannelId } from "../../../proto/mod.ts";
import type { RecordChange } from "../../store/mod.ts";
import { ChannelQueue } from "./channel_queue.ts";
import { PositionRunner } from "./position_runner.ts";

interface Bench {
  readonly progress: PositionRunner;
  readonly writes: RecordChange[][];
  readonly durable: number[];
  readonly faults: unknown[];
  position: number;
  /** Lets the disk finish what it is writing. */
  settle: () => void;
  /** Rests that have begun, in milliseconds; they end at once unless `awake` is set. */
  readonly rests: number[];
  awake: boolean;
  /** Ends the rests of this length. */
  wake: (ms: number) => void;
  fail: boolean;
  /** How often readers were told that they may go on. */
  near: number;
  /** Another room writes; returns the end of that. */
  holdUp: () => () => void;
}

function createBench(): Bench {
  const waiting: (() => void)[] = [];
  const resting: { readonly ms: number; readonly run: () => void }[] = [];
  const bench: Omit<Bench, "progress" | "holdUp"> = {
    writes: [],
    durable: [],
    faults: [],
    position: 0,
    settle: () => waiting.splice(0).forEach((done) => done()),
    rests: [],
    awake: false,
    wake: (ms) => resting.filter((rest) => rest.ms === ms).forEach(({ run }) => run()),
    fail: false,
    near: 0,
  };
  const queue = new ChannelQueue((ms, run) => {
    bench.rests.push(ms);
    if (bench.awake) resting.push({ ms, run });
    else queueMicrotask(run);
    return () => {};
  }, (fault) => bench.faults.push(fault));
  const holdUp = (): () => void => {
    const { promise, resolve } = createDeferred<void>();
    queue.add({ step: () => ({ effects: [], written: promise }), perform: () => {} }).push("write");
    return resolve;
  };
  const progress = new PositionRunner(0, {
    channelId: parseChannelId("A".repeat(22)),
    store: {
      batch: (changes) => {
        bench.writes.push([...changes]);
        return bench.fail
          ? Promise.reject(new Error("disk full"))
          : new Promise((done) => waiting.push(done));
      },
    },
    alongside: () => [],
    position: () => ({ sequence: bench.position, epoch: undefined }),
    onDurable: (position) => {
      bench.durable.push(position);
      return Promise.resolve();
    },
    onNear: () => bench.near++,
    onFault: (fault) => bench.faults.push(fault),
    queue,
  });
  return Object.assign(bench, { progress, holdUp });
}

const change = (id: string): RecordChange => ({
  type: "put",
  kind: "test",
  id,
  value: new Uint8Array(1),
});
// wait: one turn of the event loop
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a change that others may write too is the one of the moment of its write", async () => {
  const bench = createBench();
  let id = "before";
  bench.progress.note([() => change(id)]);
  id = "now";
  await turn();
  assertEquals(bench.writes.map(([first]) => first), [change("now")]);
  bench.settle();
});

Deno.test("what is noted in one turn is one write, and what comes meanwhile is the next", async () => {
  const bench = createBench();
  for (const id of ["a", "b"]) {
    bench.position++;
    bench.progress.note([change(id)]);
  }
  await turn();
  assertEquals(bench.writes.map((changes) => changes.length), [3], "two changes and the position");
  bench.position++;
  bench.progress.note([change("c")]);
  assertEquals(bench.writes.length, 1);
  bench.settle();
  await turn();
  assertEquals([bench.writes.length, bench.durable], [2, [2]]);
  bench.settle();
  await bench.progress.flush();
  assertEquals(bench.durable, [2, 3]);
  assertEquals(bench.progress.durable, 3);
});

Deno.test("without anything new nothing is written", async () => {
  const bench = createBench();
  bench.progress.note();
  await bench.progress.flush();
  assertEquals(bench.writes, []);
});

Deno.test("who runs far ahead of the disk has to wait for it", async () => {
  const bench = createBench();
  const areFar = Array.from({ length: 80 }, (_, i) => {
    bench.position++;
    bench.progress.note([change(`${i}`)], 1);
    return bench.progress.isFarAhead;
  });
  assertEquals(areFar.indexOf(true), 63);
  await turn();
  assertEquals(bench.near, 0);
  bench.settle();
  await turn();
  assertEquals([bench.near, bench.progress.isFarAhead], [1, false]);
});

Deno.test("who runs far ahead while another room writes has to wait too, and goes on with the disk", async () => {
  const bench = createBench();
  const take = (): boolean => {
    bench.position++;
    bench.progress.note([change(`${bench.position}`)], 1);
    return bench.progress.isFarAhead;
  };
  const early = Array.from({ length: 40 }, take);
  await turn();
  const goOn = bench.holdUp();
  const before = Array.from({ length: 14 }, take);
  bench.settle();
  await turn();
  const behind = Array.from({ length: 20 }, take);
  assertEquals([...early, ...before, ...behind].indexOf(true), 63, "no step of them was made");
  goOn();
  await turn();
  assertEquals([bench.near, bench.progress.isFarAhead], [1, false], "40 are on disk");
});

Deno.test("after a write that failed nothing is acknowledged any more", async () => {
  const bench = createBench();
  bench.fail = true;
  bench.position = 1;
  bench.progress.note([change("a")]);
  await bench.progress.flush();
  assertEquals([bench.durable, bench.faults.length], [[], 1]);
  bench.position = 2;
  bench.progress.note([change("b")]);
  await bench.progress.flush();
  assertEquals([bench.writes.length, bench.durable], [1, []]);
});

Deno.test("written() resolves with the write that holds what was noted, and not before", async () => {
  const bench = createBench();
  const told: string[] = [];
  bench.position = 1;
  bench.progress.note([change("a")]);
  void bench.progress.written().then(() => told.push("a"));
  await turn();
  bench.position = 2;
  bench.progress.note([change("b")]);
  void bench.progress.written().then(() => told.push("b"));
  assertEquals([bench.writes.length, told], [1, []]);
  bench.settle();
  await turn();
  assertEquals(told, ["a"]);
  bench.settle();
  await bench.progress.flush();
  await turn();
  assertEquals(told, ["a", "b"]);
  await bench.progress.written();
});

Deno.test("written() rejects when the disk does not write, and when the channel has ended", async () => {
  const bench = createBench();
  bench.fail = true;
  bench.position = 1;
  bench.progress.note([change("a")]);
  await assertRejects(() => bench.progress.written(), StaticError);
  const ended = createBench();
  ended.progress.stop();
  ended.position = 1;
  ended.progress.note([change("a")]);
  await assertRejects(() => ended.progress.written(), StaticError);
});

Deno.test("written() resolves after the end when all was on disk before it, and not after a write that failed", async () => {
  const bench = createBench();
  bench.position = 1;
  bench.progress.note([change("a")], 1);
  const written = bench.progress.written();
  await turn();
  bench.settle();
  await written;
  bench.progress.stop();
  await bench.progress.written();
  bench.progress.note([change("b")], 1);
  await assertRejects(() => bench.progress.written(), StaticError);
  const failed = createBench();
  failed.fail = true;
  failed.position = 1;
  failed.progress.note([change("a")]);
  await failed.progress.flush();
  // Nothing waits any more, and it is not on disk.
  await assertRejects(() => failed.progress.written(), StaticError);
});

Deno.test("a position alone waits for the next write, and is written by itself after a while", async () => {
  const bench = createBench();
  bench.awake = true;
  bench.position = 5;
  bench.progress.note();
  bench.progress.note();
  await turn();
  assertEquals([bench.writes.length, bench.rests], [0, [1_000]]);
  bench.awake = false;
  bench.progress.note([change("a")]);
  await turn();
  assertEquals(bench.writes.map((changes) => changes.length), [2], "the change and the position");
  bench.settle();
  await turn();
  bench.position = 6;
  bench.progress.note();
  await turn();
  assertEquals(bench.writes.length, 1, "the first rest goes on");
});

Deno.test("a position that is far ahead, many messages, and somebody that waits are written without a rest", async () => {
  const urgent: readonly ((bench: Bench) => void)[] = [
    (bench) => void bench.progress.note([change("a")], 32),
    (bench) => void bench.progress.written(),
    (bench) => void bench.progress.flush(),
  ];
  for (const act of urgent) {
    const bench = createBench();
    bench.awake = true;
    bench.position = 1;
    act(bench);
    await turn();
    assertEquals(bench.writes.length, 1);
    bench.settle();
    await turn();
  }
  const bench = createBench();
  bench.position = 64;
  bench.progress.note();
  await turn();
  assertEquals(bench.rests, [50]);
  assertEquals(bench.writes.length, 1);
});

Deno.test("those who wait while something is written wait for each other, and go in one write", async () => {
  const bench = createBench();
  bench.awake = true;
  const ask = (id: string): void => {
    bench.position++;
    bench.progress.note([change(id)]);
    void bench.progress.written();
  };
  ask("a");
  await turn();
  assertEquals([bench.writes.length, bench.rests], [1, []], "the first is not held up");
  ask("b");
  bench.settle();
  await turn();
  ask("c");
  await turn();
  assertEquals(
    [bench.writes.length, bench.rests],
    [1, [4, 50]],
    "one rest for both, and a longer one that ends with it",
  );
  bench.wake(4);
  await turn();
  assertEquals(
    bench.writes.map((changes) => changes.length),
    [2, 3],
    "both changes and the position",
  );
  bench.settle();
  await turn();
  ask("d");
  await turn();
  assertEquals(bench.writes.length, 3, "after that the next one is the first again");
});

Deno.test("while our place was in another log, any entry of this one may have been acknowledged", async () => {
  const bench = createBench();
  bench.position = 5;
  bench.progress.note([change("a")]);
  await turn();
  bench.settle();
  await turn();
  assertEquals(bench.progress.reached, 5);
  bench.position = 0;
  bench.progress.forget();
  assertEquals(bench.progress.reached, Infinity);
  bench.position = 3;
  bench.progress.note([change("b")]);
  await turn();
  assertEquals(bench.progress.reached, Infinity, "it is not on disk yet");
  bench.settle();
  await turn();
  assertEquals(bench.progress.reached, 3);
  bench.progress.forget();
  bench.progress.restart(9);
  assertEquals(bench.progress.reached, 9, "a new membership begins there");
});

Deno.test("a write that began before the place was forgotten says nothing about where we are", async () => {
  const bench = createBench();
  bench.position = 5;
  bench.progress.note([change("a")]);
  await turn();
  bench.position = 0;
  bench.progress.forget();
  bench.settle();
  await turn();
  assertEquals([bench.progress.reached, bench.progress.durable, bench.durable], [Infinity, 0, []]);
});
