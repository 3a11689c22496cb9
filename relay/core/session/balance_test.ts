import { assertEquals } from "@std/assert";
import type { RelayLoad } from "../relay_load.ts";
import { type Balance, startBalance, step } from "./balance.ts";

const load = (sessions: number, changes: Partial<RelayLoad> = {}): RelayLoad => ({
  sessions,
  hasRoom: true,
  capacity: 10_000,
  isSteady: true,
  isSending: false,
  ...changes,
});

/** How many go at each of these seconds, when nothing of it changes anything. */
function sent(
  own: RelayLoad,
  others: readonly RelayLoad[],
  { seconds = 63, stepMs = 1_000 } = {},
): number[] {
  let balance: Balance = startBalance;
  return Array.from({ length: seconds }, (_, second) => {
    const stepped = step(balance, { nowMs: second * stepMs, own, others });
    balance = stepped.balance;
    return stepped.send;
  });
}

const lastOf = (counts: readonly number[]): number | undefined => counts.at(-1);

Deno.test("a relay that is over for more than a minute sends one session in a hundred each second", () => {
  const counts = sent(load(900), [load(0), load(0)]);
  assertEquals(counts.slice(0, 61), Array(61).fill(0));
  assertEquals(counts.slice(61), [9, 9]);
});

Deno.test("nobody is sent where it would change nothing", () => {
  const cases: readonly [own: RelayLoad, others: readonly RelayLoad[], sends: number][] = [
    [load(900), [], 0], // alone
    [load(1), [load(0), load(0)], 0], // a session cannot be divided
    [load(2), [load(0), load(0)], 1],
    [load(16), [load(0), load(0)], 1],
    [load(124), [load(88), load(88)], 0], // not over
    [load(140), [load(85), load(85)], 0], // nobody lacks any
    [load(9_000), [load(9_100), load(9_050)], 0], // all are full alike
    [load(100), [load(0, { capacity: 0 })], 0], // the other takes none
    [load(100, { capacity: 0 }), [load(0)], 0], // this one has no room: others are sent elsewhere
    [load(0, { capacity: 0 }), [load(0, { capacity: 0 })], 0],
    [load(100), [load(0), load(0, { isSteady: false })], 0],
    [load(100, { isSteady: false }), [load(0)], 0],
    [load(100), [load(0, { capacity: 100 })], 0], // the other is small
    [load(260), [load(0, { capacity: 4_000 })], 2],
  ];
  for (const [own, others, sends] of cases) {
    assertEquals([own, others, lastOf(sent(own, others))], [own, others, sends]);
  }
});

Deno.test("where another relay sends already, ten seconds are enough", () => {
  const counts = sent(load(140), [load(160, { isSending: true }), load(0)], { seconds: 14 });
  assertEquals(counts, [...Array(11).fill(0), 1, 1, 1]);
});

Deno.test("a relay that stood still counts the minute anew", () => {
  assertEquals(lastOf(sent(load(900), [load(0)], { seconds: 100, stepMs: 6_000 })), 0);
  assertEquals(lastOf(sent(load(900), [load(0)], { seconds: 30, stepMs: 4_000 })), 9);
});

Deno.test("it goes on to 1.1 times the share, and less is no reason to begin again", () => {
  let balance: Balance = startBalance;
  let [own, other] = [300, 0];
  for (let second = 0; second < 400; second++) {
    const look = { nowMs: second * 1_000, own: load(own), others: [load(other)] };
    const stepped = step(balance, look);
    balance = stepped.balance;
    own -= stepped.send;
    other += stepped.send;
  }
  assertEquals([own, other, balance.state.kind], [165, 135, "even"]);
});

Deno.test("a relay that says that it has none gets sessions from one that has too many, and no more", () => {
  let balance: Balance = startBalance;
  let own = 100;
  for (let second = 0; second < 1_000; second++) {
    const look = { nowMs: second * 1_000, own: load(own), others: [load(0), load(100)] };
    const stepped = step(balance, look);
    balance = stepped.balance;
    own -= stepped.send;
  }
  // The 57 that it keeps are 1.1 times its share of what all say that they have.
  assertEquals(own, 57);
});
