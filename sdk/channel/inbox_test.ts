import { assert, assertEquals, assertRejects } from "@std/assert";
import { parseAgentId, parseBinaryId } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import { Inbox, type InboxItem } from "./inbox.ts";

function item(sequence: number, bytes = 1): InboxItem {
  const sender = { agentId: parseAgentId("a".repeat(22)), identity: new Uint8Array(1) };
  const ratchet = { secret: new Uint8Array(32), generation: 0, skipped: new Map() };
  return {
    envelope: { payload: new Uint8Array(bytes), sender, id: parseBinaryId("A".repeat(22)), timeMs: sequence },
    sequence,
    epoch: 1,
    receipt: { order: sequence, epoch: 1n, leafIndex: 0, ratchets: { handshake: ratchet, application: ratchet } },
    arrived: { since: 0, highest: sequence, missing: [] },
    bytes,
  };
}

function createInbox(): { inbox: Inbox; done: number[] } {
  const done: number[] = [];
  const inbox = new Inbox((items) => {
    done.push(...items.map(({ sequence }) => sequence));
    return undefined;
  });
  return { inbox, done };
}

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
  const aborted = inbox.read(stop.signal);
  await aborted.next();
  const second = aborted.next();
  stop.abort();
  assertEquals((await second).done, true);
  assertEquals((await inbox.read(stop.signal).next()).done, true, "a signal that was aborted before");
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

Deno.test("it is full by number and by bytes, and has room again when messages are read", async () => {
  const { inbox } = createInbox();
  for (let i = 0; i < 8; i++) inbox.push(item(i, 1024 * 1024));
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
    for (let sequence = 0; !inbox.isFull; sequence++) inbox.push(item(sequence, bytes));
    assertEquals(inbox.unread, most);
    const reader = inbox.read();
    while (!inbox.isNearlyEmpty) await reader.next();
    assert(inbox.unread > 0 && inbox.unread <= most / 4, `${inbox.unread} are left`);
  }
});
