import { assertEquals, assertRejects } from "@std/assert";
import { SimulatedClock } from "../../tests/support/mod.ts";
import { type MessageId, parseAgentId, parseBinaryId } from "../../proto/mod.ts";
import { Envelope } from "../content/envelope.ts";
import type { InboxReader } from "./inbox.ts";
import { createDeferred, type Deferred } from "../base/deferred.ts";
import { Receiver } from "./receiver.ts";

type Next = IteratorResult<Envelope, undefined>;

function message(timeMs: number): Next {
  const named = { id: parseBinaryId<MessageId>("A".repeat(22)), sender: parseAgentId("a".repeat(22)) };
  const opened = { ...named, identity: new Uint8Array(1), verified: true, timeMs, sequence: timeMs };
  const incoming = { ...opened, kind: "message", lane: "message", fields: {}, body: new Uint8Array(1) } as const;
  return { done: false, value: new Envelope(incoming, () => Promise.resolve()) };
}

/** A channel whose answers the test gives; `asked` counts questions, each of which acknowledges the message before. */
function createStage(): { receiver: Receiver; clock: SimulatedClock; asked: Deferred<Next>[]; finished: () => number } {
  const clock = new SimulatedClock();
  const asked: Deferred<Next>[] = [];
  let finished = 0;
  const reader: Pick<InboxReader, "next" | "finish"> = {
    next: () => {
      const answer = createDeferred<Next>();
      asked.push(answer);
      return answer.promise;
    },
    finish: () => Promise.resolve(void finished++),
  };
  const runtime = { nowMs: clock.nowMs, after: clock.after, randomBytes: (n: number) => new Uint8Array(n) };
  const receiver = new Receiver(reader as InboxReader, runtime);
  return { receiver, clock, asked, finished: () => finished };
}

const timeOf = async (next: Promise<Next | undefined>): Promise<number | undefined> => (await next)?.value?.timeMs;

Deno.test("who waits in vain leaves nothing behind, and the message goes to the next who asks", async () => {
  const { receiver, clock, asked } = createStage();
  for (let i = 0; i < 3; i++) {
    const received = receiver.receive({ timeoutMs: 100 });
    await clock.advance(100);
    assertEquals(await received, undefined);
  }
  assertEquals([asked.length, clock.timers], [1, 0]);
  asked[0]?.resolve(message(1));
  await clock.settle();
  assertEquals(await timeOf(receiver.receive({ timeoutMs: 100 })), 1);
  assertEquals(asked.length, 1, "taking it does not ask for the next one");
});

Deno.test("several who wait get one message each, in the order in which they asked", async () => {
  const { receiver, clock, asked } = createStage();
  const received = [1, 2, 3].map(() => timeOf(receiver.receive({ timeoutMs: 1000 })));
  for (const i of [0, 1, 2]) {
    asked[i]?.resolve(message(i + 1));
    await clock.settle();
  }
  assertEquals(await Promise.all(received), [1, 2, 3]);
  assertEquals([asked.length, clock.timers], [3, 0]);
});

Deno.test("an end or an error reaches everybody who waits, and an error also who comes later", async () => {
  const ending = createStage();
  const ended = [ending.receiver.receive({ timeoutMs: 1000 }), ending.receiver.receive({ timeoutMs: 1000 })];
  ending.asked[0]?.resolve({ done: true, value: undefined });
  assertEquals((await Promise.all(ended)).map((next) => next?.done), [true, true]);

  const { receiver, clock, asked } = createStage();
  const received = receiver.receive({ timeoutMs: 100 });
  await clock.advance(100);
  await received;
  asked[0]?.reject(new Error("blocked"));
  await clock.settle();
  await assertRejects(() => receiver.receive({ timeoutMs: 100 }), Error, "blocked");
});

Deno.test("finishing acknowledges what was given, and nothing that nobody has taken", async () => {
  const given = createStage();
  const received = given.receiver.receive({ timeoutMs: 100 });
  given.asked[0]?.resolve(message(1));
  await received;
  await given.receiver.finish();
  assertEquals(given.finished(), 1);

  const kept = createStage();
  void kept.receiver.receive({ timeoutMs: 100 });
  await kept.clock.advance(100);
  await kept.receiver.finish();
  kept.asked[0]?.resolve(message(1));
  await kept.clock.settle();
  await kept.receiver.finish();
  assertEquals(kept.finished(), 0);
});
