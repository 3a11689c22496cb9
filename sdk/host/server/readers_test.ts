// Durable readers over a source in memory that delivers again what was not acknowledged, as a
// channel does after a crash.
import { assertEquals, assertRejects } from "@std/assert";
import { StaticError } from "../../mod.ts";
import type { MessageReader, ReadMessage } from "./agent_handle.ts";
import {
  live,
  Log,
  me,
  open,
  type Place,
  place,
  runtime,
  second,
  take,
} from "./testing/memory_log.ts";

Deno.test("each reader sees every message, and it is acknowledged when all are past it", async () => {
  const here = place();
  for (const text of ["1", "2", "3"]) here.log.say(text);
  const readers = live(here);
  const [one, two] = [await open(readers), await open(readers, "mcp")];
  assertEquals(await take(one, 3), ["1", "2", "3"]);
  assertEquals([...here.log.acknowledged], []);
  assertEquals(await take(two, 3), ["1", "2", "3"]);
  assertEquals([...here.log.acknowledged], [0, 1]);
  await two.finish();
  await one.finish();
  assertEquals([...here.log.acknowledged], [0, 1, 2]);
});

Deno.test("after a crash each reader goes on where it was, and nothing that one has not seen is acknowledged", async () => {
  const here = place();
  for (const text of ["1", "2", "3", "4"]) here.log.say(text);
  const before = live(here);
  const [one, two] = [await open(before), await open(before, "mcp")];
  await take(one, 3);
  await one.finish();
  await take(two, 2);
  const after = live(here);
  assertEquals(await take(await open(after, "mcp"), 3), ["2", "3", "4"]);
  assertEquals(await take(await open(after), 1), ["4"]);
  assertEquals(here.log.acknowledged.has(3), false);
});

Deno.test("positions that nobody waits for are written together, and those that somebody waits for at once", async () => {
  const here = place();
  for (const text of ["1", "2", "3", "4"]) here.log.say(text);
  // The moment is never over by itself.
  const readers = live(here, undefined, { ...runtime, after: () => () => {} });
  const [auto, manual] = [
    await open(readers, "auto"),
    await open(readers, "manual", { manual: true }),
  ];
  const { writes } = here.records;
  await take(auto, 4);
  assertEquals(here.records.writes, writes, "a loop does not wait for the disk");
  await (await manual.next())?.ack?.();
  assertEquals(here.records.writes, writes + 1, "one write for all that were noted");
  assertEquals(await take(await open(live(here), "auto"), 1), ["4"], "after a crash");
  await auto.finish();
  assertEquals(here.records.writes, writes + 2);
});

Deno.test("out of order acknowledgements of a reader hold after a crash, too", async () => {
  const here = place();
  for (const text of ["1", "2", "3"]) here.log.say(text);
  const before = live(here);
  await open(before, "slow");
  const worker = await open(before, "worker", { manual: true });
  const items = [await worker.next(), await worker.next(), await worker.next()];
  await items[1]?.ack?.();
  const after = await open(live(here), "worker");
  assertEquals(await take(after, 2), ["1", "3"]);
});

Deno.test("two programs on one reader share its messages; what one leaves undone goes to the other, in order", async () => {
  const here = place();
  for (const text of ["1", "2", "3", "4"]) here.log.say(text);
  const readers = live(here);
  const [one, two] = [await open(readers), await open(readers)];
  assertEquals([...await take(one, 1), ...await take(two, 1)], ["1", "2"]);
  await one.end();
  assertEquals(await take(two, 2), ["1", "3"]);
});

Deno.test("a durable reader exists from the start, so that nothing is acknowledged while only others read", async () => {
  const here = place();
  here.log.say("1");
  const readers = live(here);
  const other = await open(readers, "other");
  await take(other, 1);
  await other.finish();
  assertEquals([...here.log.acknowledged], []);
  assertEquals(await take(await open(live(here)), 1), ["1"]);
});

Deno.test("a reader that is too far behind is set forward and told, and holds up nobody", async () => {
  const here = place();
  const readers = live(here, { messagesOfSender: 1000, messages: 5, bytes: 1e9, ageMs: 1e9 });
  const [fast, slow] = [await open(readers, "fast"), await open(readers)];
  for (let i = 1; i <= 12; i++) here.log.say(String(i));
  await take(fast, 12);
  await fast.finish();
  const next = await slow.next();
  assertEquals([next?.envelope.text(), next?.more], ["8", { missed: 7 }]);
  assertEquals(here.log.acknowledged.size, 7);
});

Deno.test("a sender that floods costs a slow reader its own messages alone", async () => {
  const here = place();
  const readers = live(here, { messagesOfSender: 3, messages: 1000, bytes: 1e9, ageMs: 1e9 });
  const [fast, slow] = [await open(readers, "fast"), await open(readers)];
  here.log.say("quiet", { sender: 1 });
  for (let i = 1; i <= 6; i++) here.log.say(String(i));
  await take(fast, 7);
  await fast.finish();
  assertEquals(await take(slow, 4), ["quiet", "4", "5", "6"]);
});

Deno.test("a tail begins now and holds nothing back; what is for others is for readers that want all", async () => {
  const here = place();
  here.log.say("before");
  const readers = live(here);
  const reader = await open(readers);
  await take(reader, 1);
  const [tail, all] = [
    await open(readers, undefined, { tail: true }),
    await open(readers, "all", { all: true }),
  ];
  here.log.say("for another", { to: second ?? me });
  here.log.say("for us");
  assertEquals(await take(tail, 1), ["for us"]);
  assertEquals(await take(reader, 1), ["for us"]);
  assertEquals(await take(all, 3), ["before", "for another", "for us"]);
  await reader.finish();
  await all.finish();
  assertEquals(here.log.acknowledged.size, 3);
});

Deno.test("a tail may begin with what waits for a reader, and takes nothing, however slow it is", async () => {
  const here = place();
  for (const text of ["1", "2", "3"]) here.log.say(text);
  const readers = live(here);
  const mcp = await open(readers, "mcp", { manual: true });
  await (await mcp.next())?.ack?.();
  const given = await mcp.next();
  const [tail, newcomer] = [
    await open(readers, "mcp", { tail: true }),
    await open(readers, "new", { tail: true }),
  ];
  assertEquals(await take(tail, 2), ["2", "3"], "one that was given out is not done with");
  assertEquals(await take(newcomer, 3), ["1", "2", "3"]);
  // More than are kept for a tail: none of those that wait is lost.
  const more = Array.from({ length: 600 }, (_, number) => `more ${number}`);
  for (const text of more) here.log.say(text);
  assertEquals(await take(tail, 600), more);
  await given?.ack?.();
  assertEquals(await take(mcp, 1), ["3"]);
});

Deno.test("a tail beside a reader shows nothing that the reader is past, also after a crash", async () => {
  const here = place();
  for (const text of ["1", "2", "3"]) here.log.say(text);
  const before = await open(live(here), "mcp");
  await take(before, 3);
  await before.finish();
  // Nobody has read as the default reader: the channel delivers all of them again.
  const readers = live(here);
  const tail = await open(readers, "mcp", { tail: true, all: true });
  here.log.say("4");
  here.log.say("for another", { to: second ?? me });
  assertEquals(await take(tail, 2), ["4", "for another"]);
});

Deno.test("a reader tells when it was last asked", async () => {
  const here = place();
  let nowMs = 1000;
  const readers = live(here, undefined, { ...runtime, nowMs: () => nowMs });
  const askedAt = async (): Promise<number | undefined> =>
    (await readers.list()).find(({ name }) => name === "mcp")?.askedAtMs;
  const mcp = await open(readers, "mcp", { manual: true });
  assertEquals(await askedAt(), undefined);
  const next = mcp.next();
  nowMs = 2000;
  assertEquals(await askedAt(), 2000, "it is being asked");
  here.log.say("1");
  await next;
  nowMs = 3000;
  assertEquals(await askedAt(), 2000);
  const other = await open(readers, "mcp", { manual: true });
  const nothing = other.next();
  nowMs = 4000;
  await other.end();
  assertEquals(await nothing, undefined);
  nowMs = 5000;
  assertEquals(await askedAt(), 4000, "until it went");
});

Deno.test("a place that comes again with a later time is another message, and is shown", async () => {
  const here = place();
  for (const text of ["1", "2", "3"]) here.log.say(text, { timeMs: 1000 });
  const before = live(here);
  await open(before, "slow");
  const reader = await open(before);
  await take(reader, 3);
  await reader.finish();
  const restored: Place = { log: new Log(), records: here.records };
  for (const text of ["1", "other"]) restored.log.say(text, { timeMs: text === "1" ? 1000 : 9000 });
  assertEquals(await take(await open(live(restored)), 1), ["other"]);
});

Deno.test("readers are bounded in number and name, and a deleted one lets go of what it held", async () => {
  const here = place();
  here.log.say("1");
  const readers = live(here);
  for (let i = 0; i < 15; i++) await open(readers, `reader-${i}`);
  assertEquals(
    (await assertRejects(() => open(readers, "one-more"), StaticError)).code,
    "overloaded",
  );
  assertEquals(
    (await assertRejects(() => open(readers, "../x"), StaticError)).code,
    "invalid_request",
  );
  assertEquals(
    (await assertRejects(() => readers.delete("reader-0"), StaticError)).code,
    "not_allowed",
  );
  const next = place();
  next.log.say("1");
  const again = live(next);
  const other = await open(again, "other");
  await take(other, 1);
  await other.finish();
  await again.delete("default");
  assertEquals(next.log.acknowledged.size, 1);
  assertEquals((await live(next).list()).map(({ name }) => name), ["other"]);
});

Deno.test("a reader that is deleted does not come back by an acknowledgement of a message that it held", async () => {
  const here = place();
  for (const text of ["1", "2"]) here.log.say(text);
  const readers = live(here);
  const worker = await open(readers, "worker", { manual: true });
  const held = [await worker.next(), await worker.next()];
  await worker.end();
  const erase = here.records.delete.bind(here.records);
  here.records.delete = async (name) => {
    await erase(name);
    await held[0]?.ack?.();
  };
  await readers.delete("worker");
  await held[1]?.ack?.();
  await readers.stop();
  assertEquals([...here.records.disk.keys()], []);
  assertEquals((await live(here).list()).map(({ name }) => name), ["default"]);
});

Deno.test("a reader that is deleted does not come back with a write that failed", async () => {
  const here = place();
  here.log.say("1");
  const readers = live(here);
  const worker = await open(readers, "worker", { manual: true });
  const held = await worker.next();
  await worker.end();
  const { promise, reject } = Promise.withResolvers<void>();
  const write = here.records.write.bind(here.records);
  const reached = Promise.withResolvers<void>();
  here.records.write = () => {
    reached.resolve();
    return promise;
  };
  const acknowledged = assertRejects(
    () => held?.ack?.() ?? Promise.resolve(),
    StaticError,
    "no disk",
  );
  await reached.promise;
  const deleted = readers.delete("worker");
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  reject(new StaticError("internal", "no disk"));
  await Promise.all([acknowledged, deleted]);
  here.records.write = write;
  // Another reader's position is written.
  const other = await open(readers, "other");
  await take(other, 1);
  await other.finish();
  await readers.stop();
  assertEquals([...here.records.disk.keys()], ["other"]);
});

const few = { messagesOfSender: 1000, messages: 5, bytes: 1e9, ageMs: 1e9 };

Deno.test("what a reader is behind counts across crashes of the host, so that one that stands still never fills the inbox", async () => {
  const here = place();
  for (let life = 0; life < 4; life++) {
    for (let i = 1; i <= 4; i++) here.log.say(`${life}.${i}`);
    const readers = live(here, few);
    const fast = await open(readers, "fast");
    await take(fast, 4);
    await fast.finish();
    await readers.stop();
  }
  assertEquals(here.log.acknowledged.size, 16 - few.messages);
});

Deno.test("what a reader missed is told after a crash, too, and once", async () => {
  const here = place();
  for (let i = 1; i <= 7; i++) here.log.say(String(i));
  const before = live(here, few);
  const fast = await open(before, "fast");
  await take(fast, 7);
  await fast.finish();
  await before.stop();
  const after = live(here, few);
  const next = await (await open(after)).next();
  assertEquals([next?.envelope.text(), next?.more], ["3", { missed: 2 }]);
  await after.stop();
  assertEquals((await (await open(live(here, few))).next())?.more, {});
});

Deno.test("of two programs on one reader, the one that wants all gets what is for others", async () => {
  const here = place();
  const readers = live(here);
  const [plain, all] = [await open(readers), await open(readers, undefined, { all: true })];
  here.log.say("for another", { to: second ?? me });
  here.log.say("for us");
  assertEquals(await take(plain, 1), ["for us"]);
  assertEquals(await take(all, 1), ["for another"]);
});

Deno.test("of messages that were sent as one, a reader sees after a crash those that it has not seen", async () => {
  const here = place();
  here.log.sayAsOne("1", "2", "3");
  here.log.say("4");
  const before = live(here);
  const [one, worker] = [await open(before), await open(before, "worker", { manual: true })];
  await open(before, "slow");
  assertEquals(await take(one, 2), ["1", "2"], "asking acknowledges the first");
  const items = [await worker.next(), await worker.next(), await worker.next()];
  await items[1]?.ack?.();
  const after = live(here);
  assertEquals(await take(await open(after), 3), ["2", "3", "4"]);
  assertEquals(await take(await open(after, "worker"), 3), ["1", "3", "4"]);
  assertEquals(await take(await open(after, "slow"), 4), ["1", "2", "3", "4"]);
});

Deno.test("a message of a dead host is acknowledged by its id, not its neighbour that was sent with it", async () => {
  const here = place();
  here.log.sayAsOne("1", "2");
  const before = await open(live(here), undefined, { manual: true });
  const [, given] = [await before.next(), await before.next()];
  const { sequence = 0, timeMs = 0, id } = given?.envelope ?? {};
  const after = live(here);
  await after.pass({ sequence, timeMs, id });
  assertEquals([...here.log.acknowledged], [1]);
  assertEquals(await take(await open(after), 1), ["1"]);
});

Deno.test("a message of a dead host is not taken for one that a restored relay has put at its place", async () => {
  const here = place();
  here.log.say("new", { timeMs: 5000 });
  const readers = live(here);
  await readers.pass({ sequence: 1, timeMs: 1000 });
  assertEquals(await take(await open(readers), 1), ["new"]);
});

Deno.test("finishing a loop that acknowledges by hand acknowledges nothing: the program may still work on what it has", async () => {
  const here = place();
  for (const text of ["1", "2"]) here.log.say(text);
  const readers = live(here);
  const worker = await open(readers, undefined, { manual: true });
  const items = [await worker.next(), await worker.next()];
  await worker.finish();
  assertEquals([...here.log.acknowledged], []);
  await items[1]?.ack?.();
  assertEquals([...here.log.acknowledged], [1]);
  assertEquals(await take(await open(readers), 1), ["1"]);
});

Deno.test("how much a reader missed is told again when the program did not see it", async () => {
  const here = place();
  for (const text of ["1", "2", "3"]) here.log.say(text);
  const readers = live(here, { messagesOfSender: 1, messages: 3072, bytes: 1e9, ageMs: 1e9 });
  const [fast, slow] = [await open(readers), await open(readers, "slow")];
  await take(fast, 3);
  await fast.finish();
  const given = await slow.next();
  const missed = given?.more?.["missed"];
  assertEquals(typeof missed, "number");
  given?.giveBack?.();
  assertEquals((await slow.next())?.more?.["missed"], missed);
});

/** Some at once, as a quick program gets them. */
async function takeSome(reader: MessageReader, count: number): Promise<ReadMessage[]> {
  const first = await reader.next();
  return first === undefined ? [] : [first, ...reader.more?.(count - 1) ?? []];
}

Deno.test("of messages given at once, those that the program saw are acknowledged, and the others come again in order", async () => {
  const here = place();
  for (const text of ["1", "2", "3", "4", "5"]) here.log.say(text);
  const readers = live(here);
  const reader = await open(readers);
  const some = await takeSome(reader, 4);
  assertEquals(some.map(({ envelope }) => envelope.text()), ["1", "2", "3", "4"]);
  assertEquals([...here.log.acknowledged], [], "nobody has seen them");
  await some[0]?.pass?.();
  for (const each of some.slice(2)) each.giveBack?.();
  assertEquals([...here.log.acknowledged], [0]);
  assertEquals(await take(reader, 1), ["3"], "asking acknowledges the second, which it worked on");
  assertEquals([...here.log.acknowledged], [0, 1]);
  await reader.end();
  assertEquals(await take(await open(live(here)), 3), ["3", "4", "5"], "after a crash");
});

Deno.test("a program gets no second message while another one waits for the same reader, and none with manual", async () => {
  const here = place();
  const readers = live(here);
  const [one, two, manual] = [
    await open(readers),
    await open(readers),
    await open(readers, "manual", { manual: true }),
  ];
  const both = [takeSome(one, 8), takeSome(two, 8)];
  for (const text of ["1", "2", "3"]) here.log.say(text);
  const texts = (await Promise.all(both)).map((some) =>
    some.map(({ envelope }) => envelope.text())
  );
  assertEquals(texts.map(([first]) => first), ["1", "2"]);
  assertEquals(texts.flat().toSorted(), ["1", "2", "3"]);
  assertEquals((await takeSome(manual, 8)).length, 1);
});

Deno.test("what is given at once has a bound in bytes, and the rest stays where it is", async () => {
  const here = place();
  for (let i = 0; i < 5; i++) here.log.say(String(i).repeat(100_000));
  const readers = live(here);
  const reader = await open(readers);
  assertEquals((await takeSome(reader, 64)).length, 3, "one, and beside it what fits into 256 KiB");
  assertEquals((await takeSome(reader, 64)).map(({ envelope }) => envelope.text()[0]), ["3", "4"]);
});
