import { assert, assertEquals } from "@std/assert";
import { agentIdOf } from "../../proto/mod.ts";
import type { Member } from "../mls/members.ts";
import { Answerers } from "./answerers.ts";

const member = (number: number, owner: boolean): Member => {
  const identity = Uint8Array.of(number);
  return {
    agentId: agentIdOf(new Uint8Array(32).fill(number), identity),
    leafIndex: number,
    identity,
    owner,
    guest: false,
    mayAdd: true,
    mayPost: true,
  };
};
const [carol, alice, bob] = [member(0, false), member(1, true), member(2, false)];
const others = [carol, alice, bob];

Deno.test("while nobody answers, anybody is asked; after an answer in vain owners come first, and anybody at the end", () => {
  const answerers = new Answerers();
  answerers.pass(others, false);
  assertEquals(answerers.next(others), undefined);
  assert(!answerers.areInVain);
  const asked = [true, false, false, false, false].map((answered) => {
    answerers.pass(others, answered);
    return answerers.next(others);
  });
  assertEquals(asked, [alice.agentId, carol.agentId, bob.agentId, undefined, alice.agentId]);
});

Deno.test("a member whose answer was refused is not named again, also when its answer came late", () => {
  const answerers = new Answerers();
  answerers.pass(others, false);
  answerers.refused(alice.agentId);
  assertEquals(answerers.next(others), carol.agentId);
  answerers.pass(others, false);
  assertEquals(answerers.next(others), bob.agentId);
});

Deno.test("an agent that nobody can let in costs its channel a commit an hour, and silence is asked every minute", () => {
  const hopeless = new Answerers();
  const pauses: number[] = [];
  for (let round = 0; round < 20; round++) {
    hopeless.refused(carol.agentId);
    for (let asked = 0; asked < 3; asked++) pauses.push(hopeless.pass(others, asked === 0));
  }
  const rounds = Array.from({ length: 20 }, (_, i) => pauses.slice(i * 3, i * 3 + 3).reduce((sum, ms) => sum + ms, 0));
  assert((rounds.at(-1) ?? 0) >= 3_600_000, `the last rounds took ${rounds.slice(-3)} ms`);
  assert(hopeless.isHopeless);
  const silent = new Answerers();
  for (let asked = 0; asked < 100; asked++) assert(silent.pass(others, false) <= 60_000);
  assert(!silent.isHopeless);
});
