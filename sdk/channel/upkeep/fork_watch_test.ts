import { assert, assertEquals } from "@std/assert";
import { type AgentId, encodeBase64url, parseAgentId } from "../../../proto/mod.ts";
import type { Fork } from "../events.ts";
import {
  aheadOf,
  connection,
  entered,
  type EpochWord,
  type ForkFinding,
  type ForkState,
  type ForkWatch,
  heardBy,
  knows,
  restartForks,
  restoreForks,
  silentIn,
  spokeIn,
  statement,
  unconfirmed,
} from "./fork_watch.ts";

const agent = (number: number): AgentId =>
  parseAgentId(encodeBase64url(new Uint8Array(16).fill(number)));
// cast: four of them
const [self, bob, carol, dave] = [1, 2, 3, 4].map(agent) as [AgentId, AgentId, AgentId, AgentId];
const state = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const minuteMs = 60_000;

/** A watch, and what it has told. */
class Bench {
  nowMs = 1_000_000;
  readonly states = new Map<number, Uint8Array>();
  readonly findings: ForkFinding[] = [];
  readonly joined = new Map<AgentId, number>();
  readonly members = new Set([self, bob, carol, dave]);
  readonly state: ForkState;

  /** `before`: the watch of a process that has ended. */
  constructor(before?: ForkState) {
    this.state = restoreForks(
      before === undefined ? new Map() : heardBy(before),
      before?.liars ?? new Set(),
    );
  }

  get #watch(): ForkWatch {
    const { nowMs, state: forks, states, findings } = this;
    const isMember = (agentId: AgentId): boolean => this.members.has(agentId);
    const joinedEpoch = (agentId: AgentId): number => this.joined.get(agentId) ?? 0;
    return { forks, states, findings, facts: { nowMs, self, isMember, joinedEpoch } };
  }

  get forks(): Fork[] {
    return [...this.state.forks.values()];
  }

  get issues(): string[] {
    return this.findings.flatMap((each) =>
      each.type === "report" ? [`${each.kind}: ${each.text}`] : []
    );
  }

  get events(): Fork[] {
    return this.findings.flatMap((each) => each.type === "forked" ? [each.fork] : []);
  }

  /** We are in the epoch whose state is its number. */
  move(epoch: number, byte = epoch): this {
    this.states.set(epoch, state(byte));
    entered(this.#watch, epoch);
    return this;
  }

  say(agentId: AgentId, epoch: number, byte = epoch): void {
    statement(this.#watch, agentId, { epoch, state: state(byte) });
  }

  speak(agentId: AgentId, epoch: number): void {
    spokeIn(this.#watch, agentId, epoch);
  }

  knows(agentId: AgentId, said: EpochWord): boolean {
    return knows(this.state, agentId, said);
  }

  connection(isOnline: boolean): void {
    connection(this.state, isOnline, this.nowMs);
  }

  unconfirmed(...agentIds: AgentId[]): void {
    unconfirmed(this.#watch, agentIds);
  }

  silent(): AgentId[] {
    const { state, state: { confirmed } } = this;
    return silentIn(state, this.#watch.facts, (agentId) => confirmed.get(agentId))
      .map(({ agentId }) => agentId);
  }
}

Deno.test("a member that confirms our state is shown with epoch and time", () => {
  const bench = new Bench().move(7);
  bench.say(bob, 7);
  assertEquals(bench.state.confirmed.get(bob), { epoch: 7, atMs: bench.nowMs });
  assertEquals([bench.issues.length, bench.forks.length], [0, 0]);
});

Deno.test("a member that confirms another state than ours is a fork that names both, told once", () => {
  const bench = new Bench().move(7);
  bench.say(bob, 7, 99);
  bench.say(bob, 7, 99);
  assertEquals(bench.forks, [{ epoch: 7, signers: [self, bob] }]);
  assertEquals(bench.events, [{ epoch: 7, signers: [self, bob] }]);
  assertEquals(bench.issues.length, 1);
  assert(
    bench.issues[0]?.startsWith("forked: This agent and ") && bench.issues[0].includes(bob),
    bench.issues[0],
  );
});

Deno.test("statements about past epochs are compared with the state that we had", () => {
  const bench = new Bench().move(5).move(6);
  bench.say(bob, 5, 99);
  assertEquals(bench.forks, [{ epoch: 5, signers: [self, bob] }]);
});

Deno.test("a statement about an epoch that we have not reached is judged when we are there", () => {
  const bench = new Bench().move(5);
  bench.say(bob, 6, 99);
  bench.say(carol, 6);
  assertEquals(bench.forks, []);
  assertEquals(aheadOf(bench.state), [bob, carol]);
  bench.say(dave, 2 ** 32 + 1);
  assertEquals(
    aheadOf(bench.state),
    [bob, carol],
    "a founding that we did not follow was told already",
  );
  bench.move(6);
  assertEquals(bench.forks, [{ epoch: 6, signers: [self, bob] }]);
  assertEquals(bench.state.confirmed.get(carol)?.epoch, 6);
});

Deno.test("two others that differ about an epoch that we were not in are both named", () => {
  const bench = new Bench().move(9);
  bench.say(bob, 3);
  bench.say(carol, 3);
  assertEquals(bench.forks, []);
  bench.say(dave, 3, 99);
  assertEquals(bench.forks, [{ epoch: 3, signers: [bob, dave] }]);
});

Deno.test("two statements of one signer about one epoch prove its lie, and no fork is left of it", () => {
  const bench = new Bench().move(7);
  bench.say(bob, 7, 99);
  bench.say(bob, 7);
  assertEquals(bench.forks, []);
  assert(
    bench.issues.at(-1)?.startsWith(`member_lied: ${bob} signed two different states`),
    bench.issues.at(-1),
  );
  bench.move(8).say(bob, 8, 98);
  assertEquals(bench.forks, [], "a known liar proves nothing");
});

Deno.test("a member that speaks with our keys and signed another state is told once and is no fork, whichever comes first", () => {
  const [first, second] = [new Bench().move(7), new Bench().move(7)];
  first.speak(bob, 7);
  first.say(bob, 7, 99);
  second.say(bob, 7, 99);
  assertEquals(second.forks.length, 1);
  second.speak(bob, 7);
  for (const bench of [first, second]) {
    assertEquals(bench.forks, []);
    assert(
      bench.issues.at(-1)?.startsWith(`forked: ${bob} speaks under the keys`),
      bench.issues.at(-1),
    );
    const told = bench.issues.length;
    bench.move(8).say(bob, 8, 98);
    bench.speak(bob, 8);
    assertEquals([bench.forks.length, bench.issues.length], [0, told], "it may sign what it likes");
    bench.move(9).say(bob, 9);
    bench.move(10).say(bob, 10, 97);
    assertEquals(
      [bench.forks.length, bench.issues.length],
      [1, told + 1],
      "it agreed, and differs anew",
    );
  }
});

Deno.test("a member that was let into another group first is no liar for speaking in ours", () => {
  const bench = new Bench().move(6);
  bench.say(bob, 7, 99);
  bench.move(7).speak(bob, 7);
  bench.move(8).say(bob, 8);
  assertEquals(bench.state.liars.size, 0);
  assertEquals(bench.forks, []);
});

Deno.test("a member that agrees again is no fork any more, and news when it differs anew", () => {
  const bench = new Bench().move(7);
  bench.say(bob, 7, 99);
  bench.move(8).say(bob, 8);
  assertEquals(bench.forks, []);
  bench.move(9).say(bob, 9, 99);
  assertEquals(bench.forks.length, 1);
  assertEquals(bench.issues.length, 2);
});

Deno.test("a fork that has healed is not told again by a word from before", () => {
  const bench = new Bench().move(7);
  bench.say(bob, 7, 99);
  bench.move(8).say(bob, 8);
  for (let i = 0; i < 3; i++) bench.say(bob, 7, 99);
  assertEquals([bench.forks, bench.events.length], [[], 1]);
  assert(bench.knows(bob, { epoch: 7, state: state(99) }), "its signature is not even verified");
});

Deno.test("a liar that speaks first hides no fork of others in an epoch that we were not in", () => {
  const bench = new Bench().move(9);
  bench.say(bob, 3, 99);
  bench.say(carol, 3, 1);
  bench.say(dave, 3, 2);
  bench.say(bob, 3, 98);
  assert(
    bench.issues.at(-1)?.includes(`${carol} and ${dave} confirm different states of epoch 3`),
    bench.issues.at(-1),
  );
  assertEquals(bench.forks, [{ epoch: 3, signers: [carol, dave] }]);
  const known = new Bench().move(9);
  known.say(bob, 2, 99);
  known.say(bob, 2, 98);
  known.say(bob, 3, 99);
  known.say(carol, 3, 1);
  known.say(dave, 3, 2);
  assertEquals(known.forks, [{ epoch: 3, signers: [carol, dave] }]);
});

Deno.test("a liar is known as one after a restart, until it is no member any more", () => {
  const first = new Bench().move(7);
  first.say(bob, 7, 99);
  first.say(bob, 7, 98);
  const second = new Bench(first.state).move(7);
  assertEquals([second.forks, second.events], [[], []]);
  second.members.delete(bob);
  second.move(8);
  second.members.add(bob);
  second.move(9).say(bob, 9, 99);
  assertEquals(second.forks.length, 1);
});

Deno.test("that a member spoke in a group that we are in no more proves nothing about the one that we were let into", () => {
  const bench = new Bench().move(7);
  bench.speak(bob, 7);
  bench.say(bob, 7);
  // In another group, which has an epoch of this number too.
  bench.states.clear();
  restartForks(bench.state, 7);
  bench.move(7, 70);
  assertEquals(bench.forks, [{ epoch: 7, signers: [self, bob] }]);
  assertEquals(bench.issues.filter((text) => text.startsWith("member_lied")), []);
  assertEquals(bench.state.confirmed.get(bob), undefined);
});

Deno.test("what members said that are gone is forgotten", () => {
  const bench = new Bench().move(7);
  bench.say(bob, 7, 99);
  bench.members.delete(bob);
  bench.move(8);
  assertEquals(bench.forks, []);
  assertEquals(bench.state.confirmed.get(bob), undefined);
});

Deno.test("a member that the relay calls connected and that says nothing for ten minutes is silent", () => {
  const bench = new Bench().move(7);
  bench.connection(true);
  bench.say(carol, 7);
  const unconfirmed = (): void => bench.unconfirmed(self, bob, carol);
  for (let minute = 1; minute < 10; minute++) {
    bench.nowMs += minuteMs;
    unconfirmed();
    assertEquals(bench.silent(), []);
  }
  bench.nowMs += minuteMs;
  assertEquals(bench.silent(), [bob], "carol has confirmed this epoch");
  bench.say(bob, 7);
  assertEquals(bench.silent(), []);
});

Deno.test("the time of silence begins with the first epoch that was not confirmed, and later ones do not begin it anew", () => {
  const bench = new Bench().move(1);
  bench.connection(true);
  bench.say(bob, 1);
  bench.nowMs += 60 * minuteMs;
  for (let epoch = 2; epoch < 7; epoch++) {
    bench.move(epoch);
    bench.unconfirmed(bob);
    assertEquals(bench.silent(), [], `epoch ${epoch} has just begun`);
    bench.nowMs += 2 * minuteMs;
  }
  assertEquals(bench.silent(), [bob]);
  bench.say(bob, 4);
  assertEquals(bench.silent(), [], "it has said something");
});

Deno.test("a member that has just joined has ten minutes, and short cuts of the connection give nobody more", () => {
  const bench = new Bench().move(7);
  bench.connection(true);
  bench.nowMs += 60 * minuteMs;
  bench.joined.set(dave, 8);
  bench.move(8);
  for (let minute = 0; minute < 10; minute++) {
    bench.unconfirmed(dave);
    assertEquals(bench.silent(), []);
    bench.nowMs += minuteMs;
    bench.connection(false);
    bench.connection(true);
  }
  assertEquals(bench.silent(), [dave]);
});

Deno.test("nobody is silent that the relay does not call connected, or right after we come back", () => {
  const bench = new Bench().move(7);
  bench.connection(true);
  bench.unconfirmed(bob);
  bench.nowMs += 16 * minuteMs;
  assertEquals(bench.silent(), [], "its word is too old");
  bench.unconfirmed(bob);
  assertEquals(bench.silent(), [bob]);
  bench.connection(false);
  bench.nowMs += 2 * minuteMs;
  bench.connection(true);
  assertEquals(bench.silent(), []);
});
