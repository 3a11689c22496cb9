// Positions of readers that leave a message open for long: they stay small, can be read again, and
// lose and repeat nothing.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../../tests/support/mod.ts";
import { StaticError } from "../../mod.ts";
import { encodeFields } from "../../store/mod.ts";
import type { MessageReader, ReadMessage } from "./agent_handle.ts";
import { live, Log, open, type Place, place, take } from "./testing/memory_log.ts";

async function next(reader: MessageReader): Promise<ReadMessage & { readonly text: string }> {
  const message = await reader.next();
  return {
    ...message ?? { envelope: undefined as never },
    text: message?.envelope.text() ?? "end",
  };
}

/**
 * The worker acknowledges everything but "open"; what is behind it is for the reader `default`,
 * which nobody reads.
 */
async function workWithOneOpen(here: Place, count: number, limits = few): Promise<void> {
  const readers = live(here, limits);
  const worker = await open(readers, "worker", { manual: true });
  here.log.say("open");
  await worker.next();
  for (let i = 1; i <= count; i++) {
    here.log.say(String(i));
    await (await worker.next())?.ack?.();
  }
  await readers.stop();
}

const few = { messagesOfSender: 1000, messages: 5, bytes: 1e9, ageMs: 1e9 };

Deno.test("the position of a reader that leaves one message open stays small, and each is shown once after a crash", async () => {
  const here = place();
  await workWithOneOpen(here, 500);
  const [bytes, written] = [
    here.records.disk.get("worker")?.length ?? 0,
    here.records.bytes / here.records.writes,
  ];
  assert(bytes < 300 && written < 300, `${bytes} bytes at last, ${written} in the middle`);
  here.log.say("new");
  const after = live(here, few);
  const [worker, idle] = [await open(after, "worker"), await open(after)];
  assertEquals(await take(idle, 7), ["open", "496", "497", "498", "499", "500", "new"]);
  assertEquals(await take(worker, 2), ["open", "new"]);
});

Deno.test("a position stays small although the others are far behind it", async () => {
  const here = place();
  await workWithOneOpen(here, 500, { ...few, messages: 3072 });
  assert((here.records.disk.get("worker")?.length ?? 0) < 300);
  const after = live(here, { ...few, messages: 3072 });
  assertEquals((await next(await open(after, "worker"))).text, "open");
  assertEquals((await take(await open(after), 501)).at(-1), "500");
});

Deno.test("messages left open in many places hold over several crashes, also when a position is written between", async () => {
  const here = place();
  for (let i = 1; i <= 40; i++) here.log.say(String(i));
  const before = live(here);
  const worker = await open(before, "worker", { manual: true });
  for (let i = 1; i <= 40; i++) {
    const message = await worker.next();
    if (i % 3 === 0) await message?.ack?.();
  }
  const left = Array.from({ length: 40 }, (_, i) => i + 1).filter((i) => i % 3 !== 0).map(String);
  // One life that acknowledges one message more, and writes when it has not heard of all of them.
  const second = live(here);
  const again = await open(second, "worker", { manual: true });
  const first = await next(again);
  assertEquals(first.text, "1");
  await first.ack?.();
  await second.stop();
  assertEquals(await take(await open(live(here), "worker"), left.length - 1), left.slice(1));
});

Deno.test("a message that is acknowledged by its place before it has come again is not shown, and its neighbours are", async () => {
  const here = place();
  here.log.sayAsOne("1", "2", "3");
  here.log.say("4");
  const before = live(here);
  const worker = await open(before, "worker", { manual: true });
  const items = [await next(worker), await next(worker), await next(worker), await next(worker)];
  await items[3]?.ack?.();
  // The next host: its log has nothing for it yet.
  const empty: Place = { log: new Log(), records: here.records };
  const { sequence = 0, timeMs = 0, id } = items[1]?.envelope ?? {};
  await live(empty).pass({ sequence, timeMs, id }, "worker");
  here.log.say("5");
  assertEquals(await take(await open(live(here), "worker"), 3), ["1", "3", "5"]);
});

Deno.test("a position with more places than a message of the wire may have is read and becomes small", async () => {
  const here = place();
  const places = Array.from({ length: 9_000 }, (_, i) => [i + 2, 1_001 + i, null]);
  here.records.disk.set("worker", encodeFields([0, 0, [], places, false, 0]).slice());
  for (let i = 1; i <= 9_002; i++) here.log.say(String(i));
  for (let i = 1; i <= 8_990; i++) here.log.acknowledged.add(i);
  const readers = live(here);
  assertEquals((await readers.list()).map(({ name }) => name), ["worker", "default"]);
  const worker = await open(readers, "worker", { manual: true });
  const [left, last] = [await next(worker), await next(worker)];
  assertEquals([left.text, last.text], ["1", "9002"]);
  await last.ack?.();
  assert((here.records.disk.get("worker")?.length ?? 0) < 300);
  assertEquals((await next(await open(live(here), "worker"))).text, "1");
});

Deno.test("messages can be acknowledged by their places beside a position with many, up to a limit for each life", async () => {
  const here = place();
  const places = Array.from({ length: 9_000 }, (_, i) => [i + 2, 1_001 + i, null]);
  here.records.disk.set("worker", encodeFields([0, 0, [], places, false, 0]).slice());
  const readers = live(here);
  const sequences = Array.from({ length: 4_096 }, (_, i) => 10_000 + i);
  await Promise.all(sequences.map((sequence) => readers.pass({ sequence, timeMs: 1 }, "worker")));
  // One that is there takes no room.
  await readers.pass({ sequence: 10_000, timeMs: 2 }, "worker");
  const refused = await assertRejects(
    () => readers.pass({ sequence: 1, timeMs: 1 }, "worker"),
    StaticError,
  );
  assertEquals(refused.code, "overloaded");
  // Those that have come again are done with.
  here.log.sayAt("new", { sequence: 14_000, timeMs: 20_000 });
  await (await (await open(readers, "worker", { manual: true })).next())?.ack?.();
  await readers.pass({ sequence: 14_096, timeMs: 1 }, "worker");
});

Deno.test("readers that could not be read at first are read when they are asked for again", async () => {
  const here = place();
  here.log.say("1");
  const readers = live(here);
  const list = here.records.list.bind(here.records);
  here.records.list = () => Promise.reject(new StaticError("store_failed", "no disk"));
  await assertRejects(() => open(readers), StaticError, "no disk");
  here.records.list = list;
  assertEquals(await take(await open(readers), 1), ["1"]);
});

Deno.test("a reader whose record is damaged begins anew and loses nothing, and the others go on where they were", async () => {
  const here = place();
  for (const text of ["1", "2"]) here.log.say(text);
  const before = live(here);
  for (const name of ["worker", "damaged"]) {
    const reader = await open(before, name);
    await take(reader, 1);
    await reader.finish();
  }
  const records = [
    Uint8Array.of(0xff),
    Uint8Array.of(),
    encodeFields([1, "later"]),
    encodeFields([0, 0, [], [["x"]], false, 0]),
  ];
  // A place that is no whole number: [7.5, 1, "x"].
  const odd = Uint8Array.of(0x86, 0, 0, 0x80, 0x81, 0x83, 0xf9, 0x47, 0x80, 1, 0x61, 0x78, 0xf4, 0);
  for (const record of [...records, odd]) {
    here.records.disk.set("damaged", record.slice());
    const after = live(here);
    assertEquals((await after.list()).map(({ name }) => name).toSorted(), [
      "damaged",
      "default",
      "worker",
    ]);
    assertEquals(await take(await open(after, "worker"), 1), ["2"]);
    assertEquals(await take(await open(after, "damaged", { manual: true }), 2), ["1", "2"]);
  }
});

Deno.test("a reader that is set past messages that were sent as one is told of each of them", async () => {
  const here = place();
  here.log.sayAsOne("1", "2", "3", "4");
  const before = live(here);
  const fast = await open(before, "fast");
  await take(fast, 4);
  await fast.finish();
  await before.stop();
  // Its limit is reached with the first of them.
  const after = live(here, { ...few, messages: 0 });
  const idle = await open(after);
  here.log.say("5");
  const { text, more } = await next(idle);
  assertEquals([text, more], ["5", { missed: 4 }]);
});

Deno.test("after a write of many places the next one rests in proportion, and takes what was noted meanwhile", async () => {
  const here = place();
  const waits: number[] = [];
  let wake = (): void => {};
  const readers = live(here, undefined, {
    nowMs: () => 0,
    after: (ms, run) => {
      // The moment in which writes collect is over at once.
      if (ms === 50) run();
      else [wake] = [run, waits.push(ms)];
      return () => {};
    },
  });
  const worker = await open(readers, "worker", { manual: true });
  for (let i = 0; i < 1_003; i++) here.log.say(String(i));
  const left: (ReadMessage | undefined)[] = [];
  while (left.length < 1_000) left.push(await worker.next());
  const last = [await worker.next(), await worker.next(), await worker.next()];
  await last[0]?.ack?.();
  assertEquals(waits, [10.01], "1,000 that are open, and the one that is done with");
  const { writes } = here.records;
  const acknowledged = [last[1]?.ack?.(), last[2]?.ack?.()];
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  assertEquals(here.records.writes, writes);
  wake();
  await Promise.all(acknowledged);
  assertEquals(here.records.writes, writes + 1);
  // A host that stops does not rest.
  const stopped = left[0]?.ack?.();
  await readers.stop();
  await stopped;
});

/** One reader in the model. */
interface Model {
  readonly name: string;
  readonly done: Set<string>;
  /** Given in this life, and before the crash. */
  held: Map<string, ReadMessage>;
  lost: Map<string, ReadMessage>;
}

Deno.test("whatever is acknowledged before crashes, each reader gets what it has not acknowledged, once and in order", async () => {
  const random = createRandom(seedFromEnvironment());
  for (let run = 0; run < 40; run++) {
    const here = place();
    const names = ["default", "one", "two"];
    const models = names.map((name): Model => ({
      name,
      done: new Set(),
      held: new Map(),
      lost: new Map(),
    }));
    const said: string[] = [];
    const say = (count: number): void => {
      const texts = Array.from({ length: count }, (_, i) => String(said.length + i));
      said.push(...texts);
      here.log.sayAsOne(...texts);
    };
    let readers = live(here);
    let loops = await Promise.all(names.map((name) => open(readers, name, { manual: true })));
    for (let step = 0; step < 150; step++) {
      const at = random.below(names.length);
      const model = models[at];
      if (model === undefined) continue;
      const { name, done, held, lost } = model;
      const expected = said.find((text) => !done.has(text) && !held.has(text));
      const what = random.below(12);
      if (what < 3) say(random.chance(0.3) ? 1 + random.below(4) : 1);
      else if (what < 7 && expected !== undefined) {
        const message = await loops[at]?.next();
        assertEquals(
          [name, message?.envelope.text()],
          [name, expected],
          `step ${step}, STATIC_TEST_SEED=${random.seed}`,
        );
        if (message !== undefined) held.set(expected, message);
      } else if (what < 10 && held.size > 0) {
        const text = random.pick([...held.keys()]);
        await held.get(text)?.ack?.();
        done.add(text);
        held.delete(text);
      } else if (what === 10 && lost.size > 0) {
        // By its place, perhaps before it has come again.
        const text = random.pick([...lost.keys()]);
        const envelope = lost.get(text)?.envelope;
        lost.delete(text);
        if (envelope === undefined || done.has(text) || held.has(text)) continue;
        await readers.pass({
          sequence: envelope.sequence,
          timeMs: envelope.timeMs,
          id: envelope.id,
        }, name);
        done.add(text);
      } else if (what === 11 && random.chance(0.4)) {
        for (const each of models) [each.lost, each.held] = [each.held, new Map()];
        readers = live(here);
        const opened = names.map((each) => open(readers, each, { manual: true }));
        loops = await Promise.all(opened);
      }
    }
  }
});
