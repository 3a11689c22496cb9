import { assertEquals, assertRejects } from "@std/assert";
import { type MessageId, parseBinaryId } from "../../../proto/mod.ts";
import { createError } from "../../base/errors.ts";
import { createInbox, item, type Lane } from "../testing/inbox.ts";

Deno.test("a message is done with when the next one is asked for, and not before", async () => {
  const { inbox, done } = createInbox();
  for (const sequence of [1, 2, 3]) inbox.push(item(sequence));
  const reader = inbox.read();
  assertEquals((await reader.next()).value?.timeMs, 1);
  assertEquals(done, []);
  assertEquals((await reader.next()).value?.timeMs, 2);
  assertEquals(done, [1]);
  await reader.return?.();
  assertEquals(done, [1], "who breaks off has not asked past the second");
  assertEquals((await inbox.read().next()).value?.timeMs, 2);
});

Deno.test("the slowest reader decides, and one that ends holds nothing up", async () => {
  const { inbox, done } = createInbox();
  const [fast, slow] = [inbox.read(), inbox.read()];
  for (const sequence of [1, 2, 3]) inbox.push(item(sequence));
  for (let i = 0; i < 3; i++) await fast.next();
  await slow.next();
  assertEquals(done, []);
  await slow.next();
  assertEquals(done, [1]);
  await slow.return?.();
  inbox.push(item(4));
  assertEquals((await fast.next()).value?.timeMs, 4);
  assertEquals(done, [1, 2, 3]);
});

Deno.test("finish() counts the last message as done with", async () => {
  const { inbox, done } = createInbox();
  inbox.push(item(1));
  const reader = inbox.read();
  await reader.next();
  await reader.finish();
  assertEquals(done, [1]);
});

Deno.test("a reader that waits is woken by a message, by its signal and by the end", async () => {
  const { inbox } = createInbox();
  const waiting = inbox.read().next();
  inbox.push(item(1));
  assertEquals((await waiting).value?.timeMs, 1);

  const stop = new AbortController();
  const aborted = inbox.read({ signal: stop.signal });
  await aborted.next();
  const second = aborted.next();
  stop.abort();
  assertEquals((await second).done, true);
  assertEquals(
    (await inbox.read({ signal: stop.signal }).next()).done,
    true,
    "a signal that was aborted before",
  );
});

Deno.test("what is there is read before the end, and then its error", async () => {
  const { inbox } = createInbox();
  inbox.push(item(1));
  inbox.end(createError("not_found", "It is over"));
  const reader = inbox.read();
  assertEquals((await reader.next()).value?.timeMs, 1);
  await assertRejects(() => reader.next(), Error, "It is over");
  assertEquals((await reader.next()).done, true);

  const quiet = createInbox().inbox;
  quiet.end(undefined);
  assertEquals((await quiet.read().next()).done, true);
});

Deno.test("messages that are taken without waiting come before the end, and the end comes to who waits", async () => {
  const { inbox, done } = createInbox();
  for (const sequence of [1, 2]) inbox.push(item(sequence));
  inbox.end(createError("not_found", "It is over"));
  const reader = inbox.read({ ack: "manual" });
  assertEquals((await reader.next()).value?.timeMs, 1);
  assertEquals([reader.poll?.()?.timeMs, reader.poll?.()?.timeMs, done], [2, undefined, []]);
  await assertRejects(() => reader.next(), Error, "It is over");
});

Deno.test("messages that are given back come again in order, those before them not, and none whose time is over", async () => {
  const { inbox, done } = createInbox();
  for (const sequence of [1, 2, 3, 4]) inbox.push(item(sequence));
  const fields: { expiryMs?: number } = {};
  const late = item(5);
  inbox.push({ ...late, incoming: { ...late.incoming, fields } });
  inbox.push(item(6));
  const reader = inbox.read({ ack: "manual" });
  const given = [(await reader.next()).value, ...Array.from({ length: 5 }, () => reader.poll?.())];
  for (const at of [4, 3, 5, 2]) given[at]?.giveBack();
  fields.expiryMs = 1;
  await Promise.all(given.map((envelope) => envelope?.pass()));
  assertEquals(done, [1, 2], "those that were given back are not done with");
  const again = [1, 2, 3, 4].map(() => reader.poll?.()?.timeMs);
  assertEquals([again, done], [[3, 4, 6, undefined], [1, 2, 5]]);
});

Deno.test("a message that is passed behind one that was given back is done with, and does not come again", async () => {
  const { inbox, done } = createInbox();
  for (const sequence of [1, 2]) inbox.push(item(sequence));
  const reader = inbox.read({ ack: "manual" });
  const [first, second] = [reader.poll?.(), reader.poll?.()];
  first?.giveBack();
  await second?.pass();
  assertEquals(done, [2]);
  assertEquals([reader.poll?.()?.timeMs, reader.poll?.()], [1, undefined]);
});

Deno.test("it is full by number and by bytes, and has room again when messages are read", async () => {
  const { inbox } = createInbox();
  for (let i = 0; i < 8; i++) inbox.push(item(i, { bytes: 1024 * 1024 }));
  assertEquals(inbox.isFull, true);
  const reader = inbox.read();
  await reader.next();
  await reader.next();
  assertEquals(inbox.isFull, false);
});

Deno.test("when the slowest reader ends, what the others have passed is done with at once", async () => {
  const { inbox, done } = createInbox();
  const [fast, slow] = [inbox.read(), inbox.read()];
  for (const sequence of [1, 2]) inbox.push(item(sequence));
  await slow.next();
  for (let i = 0; i < 2; i++) await fast.next();
  const waiting = fast.next();
  assertEquals(done, []);
  await slow.return?.();
  assertEquals(done, [1, 2]);
  await fast.return?.();
  await waiting;
});

Deno.test("what was passed over is fetched when a good part of the inbox was read, by number and by size", async () => {
  for (const [bytes, most] of [[1, 4096], [1024 * 1024, 8]] as const) {
    const { inbox } = createInbox();
    for (let sequence = 0; !inbox.isFull; sequence++) inbox.push(item(sequence, { bytes: bytes }));
    assertEquals(inbox.unread, most);
    const reader = inbox.read();
    while (!inbox.hasRoom) await reader.next();
    assertEquals(inbox.unread, most * 3 / 4);
  }
});

Deno.test("with manual acknowledgement each message is done with by its own, in any order", async () => {
  const { inbox, done } = createInbox();
  for (const sequence of [1, 2, 3]) inbox.push(item(sequence));
  const reader = inbox.read({ ack: "manual" });
  const envelopes = [];
  for (let i = 0; i < 3; i++) envelopes.push((await reader.next()).value);
  assertEquals(done, []);
  await envelopes[2]?.ack();
  await envelopes[0]?.ack();
  await envelopes[0]?.ack();
  assertEquals(done, [3, 1]);
  assertEquals(inbox.oldest?.sequence, 2);
  await reader.return?.();
  await envelopes[1]?.ack();
  assertEquals(done, [3, 1, 2], "also after its loop has ended");
});

Deno.test("ack() resolves when the acknowledgement is on disk, and not before", async () => {
  const disk = Promise.withResolvers<void>();
  const { inbox, done } = createInbox({ written: () => disk.promise });
  inbox.push(item(1));
  const { value } = await inbox.read({ ack: "manual" }).next();
  let isAcknowledged = false;
  const acknowledged = value?.ack().then(() => isAcknowledged = true);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  assertEquals([done, isAcknowledged], [[1], false]);
  disk.resolve();
  await acknowledged;
});

Deno.test("pass() acknowledges without asking for a write of its own", async () => {
  let asked = 0;
  const { inbox, done } = createInbox({ written: () => Promise.resolve(void asked++) });
  inbox.push(item(1));
  const { value } = await inbox.read({ ack: "manual" }).next();
  await value?.pass();
  assertEquals([done, asked], [[1], 0]);
});

Deno.test("what is for others is done with at once, unless somebody wants to see all", async () => {
  const { inbox, done } = createInbox();
  const plain = inbox.read();
  inbox.push(item(1, { lane: "aside" }));
  assertEquals(done, [1]);
  const all = inbox.read({ all: true });
  inbox.push(item(2, { lane: "aside" }));
  inbox.push(item(3));
  assertEquals((await plain.next()).value?.timeMs, 3);
  assertEquals((await all.next()).value?.timeMs, 2);
  assertEquals(done, [1]);
  await all.return?.();
  assertEquals(done, [1, 2]);
});

Deno.test("a request holds the place in the log until it is settled, and no reader", async () => {
  const { inbox, done, handed } = createInbox();
  const reader = inbox.read();
  inbox.push(item(1, { lane: "request" }));
  inbox.push(item(2));
  assertEquals((await reader.next()).value?.timeMs, 2);
  await reader.finish();
  assertEquals([done, inbox.oldest?.sequence], [[2], 1]);
  handed[0]?.done();
  handed[0]?.done();
  assertEquals([done, inbox.oldest], [[2, 1], undefined]);
});

Deno.test("requests that nobody has handled leave the messages their room", () => {
  const { inbox, handed } = createInbox();
  for (let sequence = 1; sequence <= 5000; sequence++) {
    inbox.push(item(sequence, { bytes: 4096, lane: "request" }));
  }
  assertEquals([handed.length, inbox.isFull, inbox.hasRoom], [5000, false, true]);
  for (const { done } of handed) done();
  assertEquals([inbox.unread, inbox.isFull, inbox.hasRoom], [0, false, true]);
  while (!inbox.isFull) inbox.push(item(6000 + inbox.unread));
  assertEquals(inbox.unread, 4096);
});

Deno.test("requests that were handled and wait for a loop that is shown all count like messages", async () => {
  const { inbox, handed } = createInbox();
  const reader = inbox.read({ all: true });
  for (let sequence = 1; sequence <= 4096; sequence++) {
    inbox.push(item(sequence, { lane: "request" }));
  }
  for (const { done } of handed) done();
  assertEquals(inbox.isFull, true);
  for (let count = 0; count <= 4000; count++) await reader.next();
  assertEquals([inbox.isFull, inbox.hasRoom], [false, true]);
  await reader.return?.();
  assertEquals(inbox.unread, 0);
});

Deno.test("a message whose time is over when a loop comes to it is not shown, and is done with", async () => {
  const { inbox, done } = createInbox();
  const late = item(1);
  inbox.push({ ...late, incoming: { ...late.incoming, fields: { expiryMs: 1 } } });
  inbox.push(item(2));
  const reader = inbox.read();
  assertEquals((await reader.next()).value?.timeMs, 2);
  assertEquals(done, [1]);
});

Deno.test("without messages, requests and replies are still handed on and waited for", () => {
  const { inbox, done, handed } = createInbox({ discard: true });
  const lanes: readonly Lane[] = ["message", "aside", "request", "reply"];
  for (const [at, lane] of lanes.entries()) inbox.push(item(at, { lane }));
  assertEquals([done, handed.length], [[0, 1], 2]);
  for (const each of handed) each.done();
  assertEquals(done, [0, 1, 2, 3]);
});

Deno.test("a request that was handed on before its turn is handed on once, and holds its place from its turn on", () => {
  for (const isDoneBefore of [true, false]) {
    const { inbox, done, handed } = createInbox();
    const ahead = item(2, { lane: "request" });
    inbox.handAhead(ahead.incoming);
    if (isDoneBefore) handed[0]?.done();
    assertEquals([handed.length, inbox.unread, done], [1, 0, []]);
    inbox.push(item(1));
    inbox.push(ahead);
    assertEquals([handed.length, inbox.unread, done], [
      1,
      isDoneBefore ? 1 : 2,
      isDoneBefore ? [2] : [],
    ]);
    handed[0]?.done();
    assertEquals([inbox.unread, done], [1, [2]]);
  }
});

Deno.test("another request in the place of one that was handed on is handed on too", () => {
  const { inbox, handed } = createInbox();
  const ahead = item(2, { lane: "request" });
  inbox.handAhead(ahead.incoming);
  const id = parseBinaryId<MessageId>("B".repeat(21) + "A");
  inbox.push({ ...ahead, incoming: { ...ahead.incoming, id } });
  assertEquals(handed.map(({ incoming }) => incoming.id), [ahead.incoming.id, id]);
});
