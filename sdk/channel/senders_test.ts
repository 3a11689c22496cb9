import { assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { parseAgentId } from "../../proto/mod.ts";
import { Senders, type Verdict } from "./senders.ts";

const alice = parseAgentId("a".repeat(22));

function hear(senders: Senders, counters: readonly number[]): Verdict[] {
  return counters.map((counter) => {
    const verdict = senders.judge(alice, counter);
    if (verdict !== "duplicate") senders.take(alice, counter);
    return verdict;
  });
}

const missing = (senders: Senders): number => [...senders.missing()].reduce((sum, { messages }) => sum + messages, 0);

Deno.test("a sender that was there before us is counted from its first message on", () => {
  const senders = new Senders();
  assertEquals(hear(senders, [7, 8, 8, 6]), ["next", "next", "duplicate", "duplicate"]);
  assertEquals(missing(senders), 0);
});

Deno.test("a sender that joined after us is missed from its first message on", () => {
  const senders = new Senders();
  senders.begin(alice);
  assertEquals(hear(senders, [3]), ["gap"]);
  assertEquals(missing(senders), 2);
  assertEquals(hear(senders, [1, 2, 2]), ["late", "late", "duplicate"]);
  assertEquals(missing(senders), 0);
});

Deno.test("a new membership counts anew", () => {
  const senders = new Senders();
  hear(senders, [41, 42]);
  senders.begin(alice);
  assertEquals(hear(senders, [1, 2]), ["next", "next"]);
});

Deno.test("what is stored of a sender says the same after a restart", () => {
  const before = new Senders();
  before.begin(alice);
  const record = [2, 5, 6, 9].map((counter) => before.take(alice, counter)).at(-1);
  const after = new Senders(new Map(record === undefined ? [] : [[alice, record]]));
  for (let counter = 1; counter <= 10; counter++) {
    assertEquals(after.judge(alice, counter), before.judge(alice, counter), `counter ${counter}`);
  }
});

Deno.test("whatever the order, each counter is taken once and the rest is missing", () => {
  const seed = seedFromEnvironment();
  const random = createRandom(seed);
  const senders = new Senders();
  senders.begin(alice);
  const taken = new Set<number>();
  for (let step = 0; step < 500; step++) {
    const counter = 1 + random.below(60);
    assertEquals(senders.judge(alice, counter) === "duplicate", taken.has(counter), `seed ${seed}, step ${step}`);
    if (!taken.has(counter)) senders.take(alice, counter);
    taken.add(counter);
    assertEquals(missing(senders), Math.max(...taken) - taken.size, `seed ${seed}, step ${step}`);
  }
});

Deno.test("a sender with endless holes takes no endless memory", () => {
  const senders = new Senders();
  senders.begin(alice);
  let record = senders.take(alice, 2);
  for (let counter = 4; counter < 1000; counter += 2) record = senders.take(alice, counter);
  assertEquals(record.missing.length <= 64, true);
});
