import { assert, assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../../tests/support/mod.ts";
import { binaryIdFromBytes, type MessageId, parseAgentId } from "../../../proto/mod.ts";
import type { SenderRecord } from "../records.ts";
import { type CounterVerdict, type MessageCounter, Senders } from "./senders.ts";

const alice = parseAgentId("a".repeat(22));
const at = (counter: number, epoch = 1): MessageCounter => ({ counter, epoch });

function hear(senders: Senders, counters: readonly number[]): CounterVerdict[] {
  return counters.map((counter) => {
    const verdict = senders.judge(alice, at(counter));
    if (verdict !== "duplicate") senders.take(alice, at(counter));
    return verdict;
  });
}

/** The stored record once the application has processed all of these. */
function recordOf(senders: Senders, counters: readonly number[]): SenderRecord {
  for (const counter of counters) senders.done(senders.take(alice, at(counter)));
  const record = senders.record(alice);
  assert(record !== undefined);
  return record;
}

const missing = (senders: Senders): number =>
  [...senders.missing()].reduce((sum, { messages }) => sum + messages, 0);

Deno.test("a sender that was there before us is counted from its first message on", () => {
  const senders = new Senders();
  assertEquals(hear(senders, [7, 8, 8, 6]), ["next", "next", "duplicate", "duplicate"]);
  assertEquals(missing(senders), 0);
});

Deno.test("a sender that joined after us is missed from its first message on", () => {
  const senders = new Senders();
  senders.begin(alice, 1);
  assertEquals(hear(senders, [3]), ["gap"]);
  assertEquals(missing(senders), 2);
  assertEquals(hear(senders, [1, 2, 2]), ["late", "late", "duplicate"]);
  assertEquals(missing(senders), 0);
});

Deno.test("a new membership counts anew, and messages of the one before are counted among their own", () => {
  const senders = new Senders();
  hear(senders, [41, 42]);
  senders.begin(alice, 7);
  assertEquals(
    [at(1, 7), at(43, 6), at(2, 8), at(43, 6)].map((counted) => {
      const verdict = senders.judge(alice, counted);
      if (verdict !== "duplicate") senders.take(alice, counted);
      return verdict;
    }),
    ["next", "next", "next", "duplicate"],
  );
});

Deno.test("what is stored of an earlier membership is not taken for this one", () => {
  const record = recordOf(new Senders(), [42]);
  const senders = new Senders(new Map([[alice, record]]), new Map([[alice, { epoch: 7 }]]));
  assertEquals(senders.judge(alice, at(1, 7)), "next");
  assertEquals(senders.judge(alice, at(3, 7)), "gap");
});

Deno.test("what is stored of a sender says the same after a restart", () => {
  const before = new Senders();
  before.begin(alice, 1);
  const record = recordOf(before, [2, 5, 6, 9]);
  const after = new Senders(new Map(record === undefined ? [] : [[alice, record]]));
  for (let counter = 1; counter <= 10; counter++) {
    // A hole from before may be a message that was open: it can no longer be told from a late one.
    const expected = before.judge(alice, at(counter));
    assertEquals(
      after.judge(alice, at(counter)),
      expected === "late" ? "next" : expected,
      `counter ${counter}`,
    );
  }
});

Deno.test("whatever the order, each counter is taken once and the rest is missing", () => {
  const seed = seedFromEnvironment();
  const random = createRandom(seed);
  const senders = new Senders();
  senders.begin(alice, 1);
  const taken = new Set<number>();
  for (let step = 0; step < 500; step++) {
    const counter = 1 + random.below(60);
    assertEquals(
      senders.judge(alice, at(counter)) === "duplicate",
      taken.has(counter),
      `seed ${seed}, step ${step}`,
    );
    if (!taken.has(counter)) senders.take(alice, at(counter));
    taken.add(counter);
    assertEquals(missing(senders), Math.max(...taken) - taken.size, `seed ${seed}, step ${step}`);
  }
});

Deno.test("a sender with endless holes takes no endless memory", () => {
  const senders = new Senders();
  senders.begin(alice, 1);
  const record = recordOf(senders, Array.from({ length: 499 }, (_, i) => 2 + 2 * i));
  assertEquals(record.missing.length <= 64, true);
});

Deno.test("another message under a counter is told from the same one again, for the latest 256 of a sender", () => {
  const senders = new Senders();
  const id = (number: number): MessageId =>
    binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(number % 251));
  for (let counter = 1; counter <= 300; counter++) senders.take(alice, at(counter), id(counter));
  assertEquals(senders.contradicts(alice, at(300), id(300)), false);
  assertEquals(senders.contradicts(alice, at(300), id(1)), true);
  assertEquals([44, 45].map((counter) => senders.contradicts(alice, at(counter), id(1))), [
    false,
    true,
  ]);
  senders.begin(alice, 7);
  assertEquals(
    senders.contradicts(alice, at(300, 7), id(1)),
    false,
    "a new membership counts anew",
  );
});

Deno.test("what the application is not done with is missing on disk, comes again, and is no cause for alarm", () => {
  const random = createRandom(seedFromEnvironment());
  for (let round = 0; round < 50; round++) {
    const senders = new Senders();
    senders.begin(alice, 0);
    const arrivals = Array.from({ length: 20 }, (_, i) => senders.take(alice, at(i + 1)));
    const done = new Set<number>();
    for (let i = 0; i < 12; i++) {
      const arrival = random.pick(arrivals);
      done.add(arrival.counter);
      senders.done(arrival);
    }
    const record = senders.record(alice);
    assert(record !== undefined);
    const next = new Senders(new Map([[alice, record]]));
    for (const { counter } of arrivals) {
      const verdict = next.judge(alice, at(counter));
      assertEquals(
        verdict === "duplicate",
        done.has(counter),
        `seed ${random.seed}: ${counter} is ${verdict}`,
      );
      if (verdict === "duplicate") continue;
      assertEquals(verdict, "next", `seed ${random.seed}`);
      next.take(alice, at(counter));
    }
    assertEquals(missing(next), 0);
  }
});

Deno.test("a word about some counters that will not come explains no others that are missing before them", () => {
  const senders = new Senders();
  const sender = parseAgentId("a".repeat(22));
  senders.take(sender, { counter: 5, epoch: 1 });
  assertEquals(
    senders.judge(sender, { counter: 10, epoch: 1, gone: { first: 6, count: 4 } }),
    "next",
  );
  assertEquals(
    senders.judge(sender, { counter: 10, epoch: 1, gone: { first: 8, count: 2 } }),
    "gap",
  );
});
