/** Callers that take one message at a time. */
import { assertEquals, assertRejects } from "@std/assert";
import { SimulatedClock } from "../../../tests/support/mod.ts";
import { createError } from "../../base/errors.ts";
import { createInbox, item } from "../testing/inbox.ts";
import type { InboxRunner } from "./inbox_runner.ts";

function createStage(): { clock: SimulatedClock; inbox: InboxRunner; done: number[] } {
  const clock = new SimulatedClock();
  const { inbox, done } = createInbox({ after: clock.after });
  return { clock, inbox, done };
}

const timeOf = async (next: ReturnType<InboxRunner["receive"]>): Promise<number | undefined> =>
  (await next)?.value?.timeMs;

Deno.test("who waits in vain leaves nothing behind, and the message goes to the next who asks", async () => {
  const { clock, inbox, done } = createStage();
  for (let i = 0; i < 3; i++) {
    const received = inbox.receive({ timeoutMs: 100 });
    await clock.advance(100);
    assertEquals(await received, undefined);
  }
  assertEquals(clock.timers, 0);
  inbox.push(item(1));
  await clock.settle();
  assertEquals(await timeOf(inbox.receive({ timeoutMs: 100 })), 1);
  assertEquals(done, [], "taking it does not ask for the next one");
});

Deno.test("several who wait get one message each, in the order in which they asked", async () => {
  const { clock, inbox, done } = createStage();
  const received = [1, 2, 3].map(() => timeOf(inbox.receive({ timeoutMs: 1000 })));
  for (const sequence of [1, 2, 3]) {
    inbox.push(item(sequence));
    await clock.settle();
  }
  assertEquals(await Promise.all(received), [1, 2, 3]);
  assertEquals([done, clock.timers], [[1, 2], 0]);
});

Deno.test("an end or an error reaches everybody who waits, and also who comes later", async () => {
  for (const error of [undefined, createError("not_found", "blocked")]) {
    const { inbox } = createStage();
    const results = [inbox.receive({ timeoutMs: 1000 }), inbox.receive({ timeoutMs: 1000 })];
    inbox.end(error);
    for (const each of [...results, inbox.receive({ timeoutMs: 1000 })]) {
      if (error === undefined) assertEquals((await each)?.done, true);
      else await assertRejects(() => each, Error, "blocked");
    }
  }
});

Deno.test("finishing acknowledges what was given, and nothing that nobody has taken", async () => {
  const { inbox, done } = createStage();
  inbox.push(item(1));
  inbox.push(item(2));
  await inbox.receive();
  inbox.acknowledge();
  assertEquals([done, inbox.unread], [[1], 1]);
});

Deno.test("what was received can be acknowledged by itself, and then holds up nothing", async () => {
  const { inbox, done } = createStage();
  for (const sequence of [1, 2]) inbox.push(item(sequence));
  await (await inbox.receive())?.value?.ack();
  assertEquals([done, inbox.unread], [[1], 1]);
  assertEquals(await timeOf(inbox.receive()), 2);
  const loop = inbox.read();
  assertEquals((await loop.next()).value?.timeMs, 2, "a loop still decides about what it holds");
});

Deno.test("while nobody waits, loops acknowledge alone, also what was received", async () => {
  for (const received of ["a message", "nothing in time"]) {
    const { clock, inbox, done } = createStage();
    if (received === "a message") inbox.push(item(1));
    const first = inbox.receive({ timeoutMs: 100 });
    await clock.advance(100);
    assertEquals(await timeOf(first), received === "a message" ? 1 : undefined);
    if (received !== "a message") inbox.push(item(1));
    for (const sequence of [2, 3]) inbox.push(item(sequence));
    const loop = inbox.read();
    for (const sequence of [1, 2, 3]) assertEquals((await loop.next()).value?.timeMs, sequence);
    assertEquals(done, [1, 2], received);
    await loop.return?.();
    assertEquals(await timeOf(inbox.receive()), 3, "and who asks again goes on from there");
  }
});

Deno.test("what a receiver has been given is not given to it again, though a slower loop still holds it", async () => {
  const { inbox, done } = createStage();
  const loop = inbox.read();
  for (const sequence of [1, 2]) inbox.push(item(sequence));
  assertEquals([await timeOf(inbox.receive()), await timeOf(inbox.receive())], [1, 2]);
  assertEquals(done, []);
  await loop.next();
  await loop.next();
  assertEquals(done, [1]);
});
