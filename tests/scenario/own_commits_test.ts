/** Commits of our own, which the relay does not deliver to us: where they stand in the log is known after every restart. */
import { assertEquals } from "@std/assert";
import type { ChannelId } from "../../proto/mod.ts";
import type { IssueKind } from "../../sdk/mod.ts";
import { putLandmarks } from "../../sdk/testing/agents.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../support/scenario/stage.ts";

async function commit(actor: Actor): Promise<void> {
  await (await actor.inside()).commit();
}

async function issuesOf(actor: Actor): Promise<IssueKind[]> {
  return (await actor.channel()).health().issues.map(({ kind }) => kind);
}

Deno.test("a commit of ours that is taken while earlier progress waits for the disk is known after a restart", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  // Writes wait until the agent is closed.
  alice.after = (ms, run) => stage.runtime.after(ms === 12 ? 60_000 : ms, run);
  const channel = await alice.channel();
  await channel.removeMember(carol.client.agentId);
  await bob.manager.send(name, "carol is out");
  await until("alice has it", () => channel.health().unread === 1);
  await commit(alice);
  await alice.restart();
  await commit(bob);
  await allAgree(alice, bob);
  assertEquals(await read(await alice.channel(), 1), ["carol is out"]);
  assertEquals(await issuesOf(alice), []);
});

Deno.test("a member that does not know where its own commit stands follows the next one", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await bob.manager.send(name, "not read yet");
  await until("alice has it", async () => (await alice.channel()).health().unread === 1);
  await commit(alice);
  const { channelId } = await alice.inside();
  await alice.change((store) => store.batch([putLandmarks(channelId, { ownCommits: [], endings: [] })]));
  await commit(bob);
  await allAgree(alice, bob);
  assertEquals(await issuesOf(alice), ["relay_lied"]);
  await alice.manager.send(name, "still here");
  assertEquals(await read(await bob.channel(), 1), ["still here"]);
});

/** A newcomer whose adder has not heard that the relay took it. `answer` brings what the relay says of that commit. */
async function addedUnknowingly(stage: Stage): Promise<{ alice: Actor; dave: Actor; answer: () => void }> {
  const alice = await stage.actor("alice");
  await alice.manager.create(name);
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "SendCommit") await promise;
    return reply;
  };
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  return { alice, dave, answer };
}

/** Everything that was delivered before is read, or waits for an answer. */
async function readIt({ session }: Actor, { channelId }: { readonly channelId: ChannelId }): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await session.call("ListMembers", { channelId });
}

Deno.test("a newcomer that leaves before its adder knows of its own commit is removed", async () => {
  await using stage = await Stage.open();
  const { alice, dave, answer } = await addedUnknowingly(stage);
  const inside = await alice.inside();
  const left = Promise.withResolvers<void>();
  alice.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverLeave") left.resolve();
    return [notice];
  };
  const leaving = (await dave.channel()).leave();
  await left.promise;
  await readIt(alice, inside);
  assertEquals(inside.group.members().length, 1);
  answer();
  await leaving;
  await until("alice has removed dave", () => inside.epoch === 2 && inside.group.members().length === 1);
  assertEquals(await issuesOf(alice), []);
});

Deno.test("a lapse of a newcomer that its adder does not know to be added yet is noted", async () => {
  await using stage = await Stage.open();
  const { alice, dave, answer } = await addedUnknowingly(stage);
  const inside = await alice.inside();
  const { channelId } = inside;
  const { agentId } = dave.client;
  const head = (await stage.world.engine.findChannel(channelId))?.head ?? 0;
  const body = { channelId, sequence: head + 1, epoch: 1, agentId, timeMs: 0 };
  alice.session.inject({ kind: "notice", operation: "DeliverLapse", body });
  await readIt(alice, inside);
  answer();
  await until("alice has noted it", () => inside.lapsed.includes(agentId));
});
