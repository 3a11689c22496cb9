/**
 * How many signatures an epoch costs. Every order in which statements come and wait is tried in
 * tests/small_worlds/waiting_claims.ts.
 */
import { assert, assertEquals } from "@std/assert";
import { ManyMembers } from "../testing/many_members.ts";

const count = 40;

function inEpoch(): ManyMembers {
  const channel = new ManyMembers(count);
  channel.hearAll();
  channel.enter();
  return channel;
}

const tell = (channel: ManyMembers, ...of: Parameters<ManyMembers["pages"]>): void =>
  channel.pages(...of).forEach((page) => channel.runner.told(page));
const epochs = ({ runner, agentIds }: ManyMembers): (number | undefined)[] =>
  agentIds.map((agentId) => runner.known(agentId).confirmedEpoch);

Deno.test("statements that agree cost no signature, and a question about all one of each, once", () => {
  const channel = inEpoch();
  tell(channel);
  assertEquals([channel.verified, new Set(epochs(channel))], [0, new Set([1])]);
  channel.runner.verifyAll();
  assertEquals([channel.verified, new Set(epochs(channel))], [count, new Set([2])]);
  tell(channel);
  channel.runner.verifyAll();
  assertEquals(channel.verified, count);
});

Deno.test("an epoch that follows takes the place of the one before, and nobody pays for that", () => {
  const channel = inEpoch();
  for (let epoch = 2; epoch < 6; epoch++) {
    tell(channel);
    channel.enter();
  }
  assertEquals(channel.verified, 0);
  channel.runner.verifyAll();
  assertEquals([channel.verified, new Set(epochs(channel))], [count, new Set([5])]);
});

Deno.test("a question about one member verifies its statement alone", () => {
  const channel = inEpoch();
  tell(channel);
  const [first] = channel.agentIds;
  assert(first !== undefined);
  assertEquals([channel.runner.confirmedEpoch(first), channel.verified], [2, 1]);
  assertEquals([channel.runner.isHeardLately(first), channel.verified], [true, 1]);
});

Deno.test("statements that nobody signed count for nobody, and are looked at once", () => {
  const channel = inEpoch();
  const isForged = (at: number): boolean => at % 10 === 3;
  tell(channel, isForged);
  channel.runner.verifyAll();
  assertEquals(epochs(channel), epochs(channel).map((_, at) => isForged(at) ? 1 : 2));
  const before = channel.verified;
  channel.runner.verifyAll();
  assertEquals(channel.verified, before);
  tell(channel);
  channel.runner.verifyAll();
  assertEquals(new Set(epochs(channel)), new Set([2]), "and hide no true ones");
  assertEquals(channel.health.issues, [], "it proves nothing about anybody");
});

Deno.test("a flood of made-up statements has the true ones verified, and ends there", () => {
  const channel = inEpoch();
  tell(channel);
  tell(channel, () => true);
  const before = channel.verified;
  assertEquals([before, new Set(epochs(channel))], [4 * count, new Set([2])], "all, then each");
  for (let round = 0; round < 3; round++) tell(channel, () => true);
  assertEquals(channel.verified, before);
});

Deno.test("statements that differ are verified when they come, and name their signers", () => {
  const channel = inEpoch();
  tell(channel, () => false, new Uint8Array(32));
  assertEquals([channel.verified, channel.runner.forks.length], [count, count]);
  assert(channel.health.issues.every(({ kind }) => kind === "forked"));
});

Deno.test("a contradiction is a lie although the first statement was verified by nobody", () => {
  const channel = inEpoch();
  tell(channel);
  const [page] = channel.pages(() => false, new Uint8Array(32));
  assert(page !== undefined);
  channel.runner.told({ ...page, confirmations: page.confirmations.slice(0, 1) });
  assertEquals(channel.health.issues.map(({ kind }) => kind), ["member_lied"]);
  assertEquals(new Set(epochs(channel)), new Set([2]), "before it was judged, all were verified");
});

Deno.test("what waits for an hour is verified, also of members that were never heard of", () => {
  const channel = new ManyMembers(count);
  channel.enter();
  tell(channel);
  channel.pass(59 * 60_000);
  assertEquals(channel.verified, 0);
  channel.pass(60_000);
  assertEquals([channel.verified, new Set(epochs(channel))], [count, new Set([2])]);
});

Deno.test("many epochs cost one signature for eight statements of a member", () => {
  const channel = inEpoch();
  for (let epoch = 0; epoch < 24; epoch++) {
    tell(channel);
    channel.enter();
  }
  assertEquals(channel.verified, 3 * count);
});

Deno.test("made-up statements of later epochs displace no true one", () => {
  const channel = inEpoch();
  tell(channel);
  for (let epoch = 0; epoch < 3; epoch++) {
    channel.enter();
    tell(channel, () => true);
  }
  channel.runner.verifyAll();
  assertEquals(new Set(epochs(channel).slice(1)), new Set([2]), "the first one makes commits");
  const before = channel.verified;
  channel.enter();
  tell(channel, () => true);
  assertEquals(channel.verified, before + 2 * count, "once they are found, none waits");
});

Deno.test("who is silent is found in one question, and only those are looked at that the relay names", () => {
  const channel = inEpoch();
  channel.runner.connection(true);
  channel.enter();
  tell(channel, (at) => at === 0);
  channel.pass(11 * 60_000);
  const named = channel.agentIds.slice(0, 35);
  channel.runner.unconfirmed({ channelId: channel.runner.channelId, epoch: 3, agentIds: named });
  assertEquals(channel.runner.silent.map(({ agentId }) => agentId), channel.agentIds.slice(0, 1));
  assertEquals([channel.largest, channel.verified], [32, 35 + 32]);
  channel.runner.silent;
  assertEquals(channel.verified, 35 + 32);
});

Deno.test("a question is answered while another room writes, and the state follows", async () => {
  const channel = inEpoch();
  tell(channel);
  channel.enter();
  const written = channel.holdUp();
  // It waits for the other room too, and comes before the answer is noted.
  tell(channel, () => true);
  channel.runner.verifyAll();
  assertEquals([channel.verified, new Set(epochs(channel))], [count, new Set([2])]);
  const [first] = channel.agentIds;
  assert(first !== undefined);
  assertEquals([channel.runner.confirmedEpoch(first), channel.verified], [2, count]);
  written();
  await channel.idle();
  assertEquals([channel.verified, new Set(epochs(channel))], [3 * count, new Set([2])]);
});

Deno.test("a question about all is answered in parts, also when statements come in between", async () => {
  const channel = inEpoch();
  tell(channel);
  channel.isSlow = true;
  const answered = channel.runner.verifyInParts();
  assertEquals(channel.verified, 32);
  channel.enter();
  tell(channel);
  await answered;
  assertEquals(channel.largest, 32);
  channel.runner.verifyAll();
  assertEquals(new Set(epochs(channel)), new Set([3]));
});

Deno.test("only what is verified is written, and what waits wakes no disk", async () => {
  const channel = inEpoch();
  await channel.runner.keep();
  const before = channel.writes.length;
  tell(channel);
  channel.pass(10 * 60_000);
  assertEquals([channel.writes.length, channel.verified], [before, 0]);
  await channel.runner.keep();
  assertEquals([channel.writes.length, channel.verified], [before + 1, count], "at a clean end");
});
