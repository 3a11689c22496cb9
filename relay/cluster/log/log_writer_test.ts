import { assertEquals, assertGreater } from "@std/assert";
import { eventually } from "../../../tests/support/eventually.ts";
import { EngineError } from "../../engine/mod.ts";
import { decodeBatch } from "./batch.ts";
import { fullerMs } from "./batch_pace.ts";
import { LogWriter } from "./log_writer.ts";

interface Published {
  readonly number: number;
  readonly acknowledged: PromiseWithResolvers<number>;
}

/** A writer whose nodes answer as the test says, after its first batch. */
async function createStage(
  { catchUp = () => Promise.resolve(), nowMs = () => performance.now() } = {},
): Promise<
  { writer: LogWriter; published: Published[]; alarms: string[]; log: { position: number } }
> {
  const [published, alarms]: [Published[], string[]] = [[], []];
  const log = { position: 0 };
  const writer = new LogWriter({
    writer: "w",
    relay: "relay-1",
    publish: (bytes) => {
      const acknowledged = Promise.withResolvers<number>();
      published.push({ number: decodeBatch(bytes).number, acknowledged });
      return acknowledged.promise;
    },
    position: () => log.position,
    catchUp,
    nowMs,
    onFenced: () => alarms.push("fenced"),
    onSetBack: () => alarms.push("set back"),
  });
  const begun = writer.begin();
  log.position = 1;
  writer.seen(1, "counts", []);
  published[0]?.acknowledged.resolve(1);
  await begun;
  return { writer, published, alarms, log };
}

// wait: for promises that are under way
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a batch that overtook its predecessor is void, and no sign that the nodes have lost anything", async () => {
  const { writer, published, alarms, log } = await createStage();
  const [first, second] = [
    writer.write(Uint8Array.of(1)),
    Promise.resolve().then(() => writer.write(Uint8Array.of(2))),
  ];
  await settled();
  assertEquals(published.map(({ number }) => number), [1, 2, 3]);
  // The second is in the log, and read, before it is acknowledged. The first is nowhere yet.
  log.position = 2;
  writer.seen(3, "void", []);
  published[2]?.acknowledged.resolve(2);
  await settled();
  assertEquals(alarms, []);
  log.position = 4;
  writer.seen(2, "counts", [Promise.resolve("one")]);
  writer.seen(3, "counts", [Promise.resolve("two")]);
  assertEquals(await Promise.all([first, second]), ["one", "two"]);
  await writer.close();
});

Deno.test("a verdict ends the log's silence, also for a relay that waits for others as old", async () => {
  let nowMs = 0;
  const { writer, log } = await createStage({ nowMs: () => nowMs });
  const [first, second] = [
    writer.write(Uint8Array.of(1)),
    Promise.resolve().then(() => writer.write(Uint8Array.of(2))),
  ];
  await settled();
  nowMs = 40_000;
  assertEquals([writer.waitingMs, writer.silentMs], [40_000, 40_000]);
  log.position = 2;
  writer.seen(2, "counts", [Promise.resolve("one")]);
  nowMs = 41_000;
  assertEquals([writer.waitingMs, writer.silentMs], [41_000, 1_000]);
  writer.seen(3, "counts", [Promise.resolve("two")]);
  assertEquals([await first, await second, writer.silentMs], ["one", "two", 0]);
  await writer.close();
});

Deno.test("a batch that is acknowledged where others were read already shows that the nodes have lost a part", async () => {
  const { writer, published, alarms, log } = await createStage();
  const written = writer.write(Uint8Array.of(1)).catch(() => {});
  await settled();
  log.position = 7;
  published[1]?.acknowledged.resolve(5);
  await settled();
  assertEquals(alarms, ["set back"]);
  writer.seen(2, "counts", [Promise.resolve()]);
  await written;
  await writer.close();
});

Deno.test("a writer sends again although its reader does not get on", async () => {
  const { writer, published } = await createStage({ catchUp: () => new Promise<void>(() => {}) });
  const written = writer.write(Uint8Array.of(1));
  const sentTwice = (): Promise<number> =>
    Promise.resolve(published.filter(({ number }) => number === 2).length);
  await eventually({ what: "the batch is sent again" }, sentTwice, (count) => count > 1);
  writer.seen(2, "counts", [Promise.resolve("done")]);
  assertEquals(await written, "done");
  await writer.close();
});

Deno.test("commands wait for the writer's beginning and for what it has to say first", async () => {
  const published: Uint8Array[][] = [];
  const writer = new LogWriter({
    writer: "w",
    relay: "relay-1",
    publish: (bytes) => Promise.resolve(published.push([...decodeBatch(bytes).commands])),
    position: () => 0,
    catchUp: () => Promise.resolve(),
    nowMs: () => performance.now(),
    onFenced: () => {},
    onSetBack: () => {},
  });
  const written = writer.write(Uint8Array.of(1));
  await settled();
  assertEquals(published, []);
  const begun = writer.begin(Uint8Array.of(9));
  assertEquals(published, [[], [Uint8Array.of(9), Uint8Array.of(1)]]);
  writer.seen(1, "counts", []);
  writer.seen(2, "counts", [Promise.resolve(), Promise.resolve("done")]);
  await begun;
  assertEquals(await written, "done");
  await writer.close();
});

Deno.test("nothing new is sent while batches are sent again: it would overtake them, and be void in its turn", async () => {
  const { writer, published, log } = await createStage();
  const numbers = (): number[] => published.map(({ number }) => number);
  const written = [
    writer.write(Uint8Array.of(1)),
    Promise.resolve().then(() => writer.write(Uint8Array.of(2))),
  ];
  await settled();
  writer.seen(3, "void", []);
  published[1]?.acknowledged.reject(new Error("lost"));
  await eventually(
    { what: "both are sent again" },
    () => Promise.resolve(numbers()),
    (all) => all.length === 4,
  );
  assertEquals(numbers(), [1, 2, 3, 2]);
  written.push(writer.write(Uint8Array.of(3)));
  await settled();
  log.position = 4;
  writer.seen(2, "counts", [Promise.resolve("one")]);
  published[3]?.acknowledged.resolve(4);
  await settled();
  assertEquals(numbers(), [1, 2, 3, 2, 3]);
  writer.seen(3, "counts", [Promise.resolve("two")]);
  published[4]?.acknowledged.resolve(5);
  await settled();
  assertEquals(numbers(), [1, 2, 3, 2, 3, 4]);
  writer.seen(4, "counts", [Promise.resolve("three")]);
  assertEquals(await Promise.all(written), ["one", "two", "three"]);
  await writer.close();
});

interface Timed {
  readonly writer: LogWriter;
  /** Of the commands that nodes took, the first bytes. */
  readonly sent: number[];
  areNodesThere: boolean;
  readonly pass: (ms: number) => Promise<void>;
}

/** A writer on simulated time, whose first batch counts. */
async function createTimed(): Promise<Timed> {
  const sent: number[] = [];
  const timers = new Set<() => void>();
  let nowMs = 0;
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    for (const run of [...timers]) {
      timers.delete(run);
      run();
    }
    await settled();
  };
  const writer = new LogWriter({
    writer: "w",
    relay: "relay-1",
    publish: (bytes) => {
      if (!timed.areNodesThere) return Promise.reject(new Error("no answer"));
      sent.push(...decodeBatch(bytes).commands.map(([first = 0]) => first));
      return Promise.resolve(1);
    },
    position: () => 0,
    catchUp: () => Promise.resolve(),
    nowMs: () => nowMs,
    after: (_, run) => {
      timers.add(run);
      return () => timers.delete(run);
    },
    onFenced: () => {},
    onSetBack: () => {},
  });
  const timed: Timed = { writer, sent, areNodesThere: true, pass };
  const begun = writer.begin();
  writer.seen(1, "counts", []);
  await begun;
  return timed;
}

Deno.test("nothing overtakes a command that was given up before it was sent", async () => {
  const timed = await createTimed();
  const { writer, sent, pass } = timed;
  const refused: number[] = [];
  timed.areNodesThere = false;
  // Four are under way, the others wait.
  let waited = 0;
  for (let number = 1; number <= 24; number++) {
    writer.write(Uint8Array.of(number)).then(() => {}, () => refused.push(number));
    await pass(2_000);
    if (waited === 0 && refused.some((each) => each > 4)) waited = number;
  }
  timed.areNodesThere = true;
  for (let round = 0; round < 3; round++) await pass(2_000);
  for (let batch = 2; batch <= 5; batch++) writer.seen(batch, "counts", [Promise.resolve()]);
  await pass(1_000);
  assertGreater(waited, 4);
  assertEquals(sent.filter((number) => number > 4 && number <= waited), []);
  writer.abort(new EngineError("closed", "The test is over"));
});

Deno.test("a verdict that comes after its command was given up is told late, and one in time is not", async () => {
  const { writer, pass } = await createTimed();
  const [late, refused]: [unknown[], string[]] = [[], []];
  const written = writer.write(Uint8Array.of(1), (result) => late.push(result));
  await settled();
  writer.seen(2, "counts", [Promise.resolve("in time")]);
  assertEquals([await written, late], ["in time", []]);
  writer.write(Uint8Array.of(2), (result) => late.push(result)).catch(({ code }) =>
    refused.push(code)
  );
  for (let waitedMs = 0; waitedMs <= 32_000; waitedMs += 2_000) await pass(2_000);
  assertEquals([refused, late], [["unavailable"], []]);
  writer.seen(3, "counts", [Promise.resolve("later")]);
  await settled();
  assertEquals(late, ["later"]);
  await writer.close();
});

Deno.test("above 500 commands a second they wait for each other, and one alone never does", async () => {
  let nowMs = 0;
  const due: (() => void)[] = [];
  const batches: number[] = [];
  const writer = new LogWriter({
    writer: "w",
    relay: "relay-1",
    publish: (bytes) => {
      batches.push(decodeBatch(bytes).commands.length);
      return new Promise<number>(() => {});
    },
    position: () => 0,
    catchUp: () => Promise.resolve(),
    nowMs: () => nowMs,
    after: (ms, run) => {
      if (ms <= fullerMs) due.push(run);
      return () => {};
    },
    onFenced: () => {},
    onSetBack: () => {},
  });
  const write = (): void => void writer.write(Uint8Array.of(1)).catch(() => {});
  const begun = writer.begin();
  writer.seen(1, "counts", []);
  await begun;
  write();
  await settled();
  assertEquals([batches, due.length], [[0, 1], 0]);
  writer.seen(2, "counts", [Promise.resolve()]);
  for (let number = 0; number < 600; number++) write();
  await settled();
  assertEquals(batches, [0, 1, 256, 256]);
  // The rest, and one that comes a moment later.
  nowMs = 1;
  write();
  assertEquals([batches.length, due.length], [4, 1]);
  nowMs = fullerMs;
  due.shift()?.();
  assertEquals([batches, due.length], [[0, 1, 256, 256, 89], 0]);
  nowMs = 5_000;
  writer.seen(3, "counts", [Promise.resolve()]);
  write();
  await settled();
  assertEquals(batches, [0, 1, 256, 256, 89, 1]);
  writer.abort(new EngineError("closed", "The test is over"));
});
