// Positions of readers when the relay's times do not rise with the places in its log, and when the
// log was set back.
import { assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../../tests/support/mod.ts";
import type { MessageReader, ReadMessage } from "./agent_handle.ts";
import { ReaderPosition } from "./reader_position.ts";
import { live, Log, open, type Place, place, take } from "./testing/memory_log.ts";

async function takeAll(reader: MessageReader, count: number): Promise<ReadMessage[]> {
  const messages: ReadMessage[] = [];
  // cast: that many were said
  for (let i = 0; i < count; i++) messages.push(await reader.next() as ReadMessage);
  return messages;
}

Deno.test("messages of a relay whose clock is ahead are not shown again, in whatever order they were acknowledged", async () => {
  const here = place();
  here.log.sayAt("1", { sequence: 1, timeMs: 6000 });
  for (let i = 2; i <= 20; i++) here.log.sayAt(String(i), { sequence: i, timeMs: 1000 + i });
  const before = live(here);
  const [first, ...others] = await takeAll(await open(before, "worker", { manual: true }), 20);
  for (const { ack } of others) await ack?.();
  await first?.ack?.();
  await before.stop();
  here.log.sayAt("new", { sequence: 21, timeMs: 1021 });
  assertEquals(await take(await open(live(here), "worker"), 1), ["new"]);
});

Deno.test("with relays whose clocks differ each message that was acknowledged stays so over crashes, and no other", async () => {
  const random = createRandom(seedFromEnvironment());
  for (let run = 0; run < 60; run++) {
    const here = place();
    const done = new Set<string>();
    let said = 0;
    for (let life = 0; life < 4; life++) {
      for (const end = said + 10; said < end; said++) {
        here.log.sayAt(String(said), {
          sequence: said + 1,
          timeMs: 10_000 + said * 10 + random.below(3) * 3000,
        });
      }
      const left = Array.from({ length: said }, (_, i) => String(i)).filter((text) =>
        !done.has(text)
      );
      const messages = await takeAll(
        await open(live(here), "worker", { manual: true }),
        left.length,
      );
      const why = `run ${run}, life ${life}, STATIC_TEST_SEED=${random.seed}`;
      assertEquals(messages.map(({ envelope }) => envelope.text()), left, why);
      while (messages.length > 0) {
        const [message] = messages.splice(random.below(messages.length), 1);
        if (message === undefined || random.chance(0.3)) continue;
        await message.ack?.();
        done.add(message.envelope.text());
      }
    }
  }
});

Deno.test("a message of the log before it was set back is acknowledged, and none that nobody saw with it", async () => {
  for (const isNewFirst of [true, false]) {
    for (const isCrash of [true, false]) {
      const here = place();
      for (const sequence of [89, 90]) {
        here.log.sayAt(`old ${sequence}`, { sequence, timeMs: 1000 });
      }
      const readers = live(here);
      const worker = await open(readers, undefined, { manual: true });
      const old = await takeAll(worker, 2);
      // The relay is restored.
      here.log.sayAt("new 51", { sequence: 51, timeMs: 2000 });
      const news = await takeAll(worker, 1);
      const inOrder = isNewFirst ? [...news, old[1]] : [old[1], ...news];
      for (const message of inOrder) await message?.ack?.();
      await old[0]?.ack?.();
      const after: Place = isCrash ? { log: new Log(), records: here.records } : here;
      // The first in the same millisecond.
      for (const i of [52, 53]) after.log.sayAt(`new ${i}`, { sequence: i, timeMs: 1948 + i });
      const loop = isCrash ? await open(live(after)) : worker;
      assertEquals(
        await take(loop, 2),
        ["new 52", "new 53"],
        `new first: ${isNewFirst}, crash: ${isCrash}`,
      );
    }
  }
});

Deno.test("a message that comes late is shown, and moves the position neither back nor forth", async () => {
  const here = place();
  for (const sequence of [1, 2, 4, 5]) {
    here.log.sayAt(String(sequence), { sequence, timeMs: 1000 + sequence });
  }
  const before = live(here);
  const worker = await open(before, "worker", { manual: true });
  for (const { ack } of await takeAll(worker, 4)) await ack?.();
  here.log.sayAt("3", { sequence: 3, timeMs: 1003 });
  const [late] = await takeAll(worker, 1);
  assertEquals(late?.envelope.text(), "3");
  await late?.ack?.();
  await before.stop();
  here.log.sayAt("6", { sequence: 6, timeMs: 1006 });
  assertEquals(await take(await open(live(here), "worker"), 1), ["6"]);
});

Deno.test("a position never goes back within a log", () => {
  const position = new ReaderPosition();
  position.pass({ sequence: 20, timeMs: 1000 }, { log: 0, latestMs: 1000 });
  position.pass({ sequence: 5, timeMs: 3000 }, { log: 0, latestMs: 4000 });
  assertEquals(position.state([]).reach, { sequence: 19, timeMs: 4000 });
  position.pass({ sequence: 7, timeMs: 5000 }, { log: 1, latestMs: 5000 });
  assertEquals(position.state([]).reach, { sequence: 6, timeMs: 5000 });
});
