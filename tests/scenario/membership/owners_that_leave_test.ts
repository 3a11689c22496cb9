/** The owners of a channel, for members that leave and come back. */
import { assert, assertEquals } from "@std/assert";
import { type AgentId, leafExtensions, limits } from "../../../proto/mod.ts";
import type { Channel, IssueKind } from "../../../sdk/mod.ts";
import { withholdCommits } from "../../support/scenario/hostile.ts";
import { createOlderOwner } from "../../support/scenario/older_member.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

const saw = (channel: Channel, wanted: IssueKind): boolean =>
  channel.health().issues.some(({ kind }) => kind === wanted);

/** The actor gets no commits until the returned function is called. */
function sendAway(actor: Actor): () => void {
  let away = true;
  withholdCommits(actor, () => !away);
  return () => away = false;
}

/** Waits until it has noticed that it was away, ends that, and waits until it was let in. */
async function comesBack(channel: Channel, letIn: () => void): Promise<void> {
  await until("it asks", () => channel.health().state === "rejoining" || saw(channel, "rejoined"));
  letIn();
  await until("it is back", () => saw(channel, "rejoined"));
}

async function ownersSeenBy(actor: Actor): Promise<AgentId[]> {
  return (await actor.channel()).members().flatMap(({ agentId, owner }) => owner ? [agentId] : []);
}

Deno.test("a member that was away while the owners changed is let in by one that it knows, and knows the new owners", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  const letIn = sendAway(bob);
  const inside = await alice.inside();
  for (const owners of [[alice, carol], [carol]]) {
    await inside.commit(() => ({ owners: owners.map(({ client }) => client.agentId) }));
  }
  await allAgree(alice, carol);
  await alice.stop();
  await carol.manager.send(name, "bob was not told who may say this");
  await comesBack(channel, letIn);
  assertEquals(await ownersSeenBy(bob), [carol.client.agentId]);
  assert(!saw(channel, "refused_welcome"));
});

Deno.test("of calls that leave at once, one that names another successor is refused, and the others are one", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await alice.channel();
  const [toCarol, toBob, same] = await Promise.allSettled([
    channel.leave({ successor: carol.client.agentId }),
    channel.leave({ successor: bob.client.agentId }),
    channel.leave(),
  ]);
  assertEquals([toCarol.status, same.status], ["fulfilled", "fulfilled"]);
  assertEquals(toBob.status === "rejected" && toBob.reason.code, "not_allowed");
  await until("alice is gone", async () => (await carol.channel()).members().length === 2);
  assertEquals(await ownersSeenBy(carol), [carol.client.agentId]);
});

Deno.test("loops end quietly when their agent leaves, also when the relay tells the end before it answers", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  const [channel, inside] = [await bob.channel(), await bob.inside()];
  const reading = Array.fromAsync(channel.messages());
  bob.session.tampering.call = async (operation, _, forward) => {
    const answer = await forward();
    if (operation === "LeaveChannel") {
      await until("bob has heard it", () => inside.over !== undefined);
    }
    return answer;
  };
  await channel.leave();
  assertEquals(await reading, []);
});

Deno.test("the only owner that leaves makes another first, which strikes it then", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).leave();
  for (const actor of [bob, carol]) {
    await until("alice is gone", async () => (await actor.channel()).members().length === 2);
    assertEquals(await ownersSeenBy(actor), [bob.client.agentId]);
  }
  await allAgree(bob, carol);
  const { group } = await carol.inside();
  assertEquals(group.changes.map(({ kind }) => kind), ["signed", "signed", "signed"]);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await carol.manager.invite(name));
  assertEquals(await ownersSeenBy(dave), [bob.client.agentId]);
});

Deno.test("two owners that leave at once are struck by one that owns nothing", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await stage.channelOf(3);
  assert(alice && bob && carol && dave);
  const inside = await alice.inside();
  const owners = [alice, bob, carol].map(({ client }) => client.agentId);
  await inside.commit(() => ({ owners }));
  await allAgree(alice, bob, carol, dave);
  await carol.stop();
  await Promise.all([alice, bob].map(async (actor) => (await actor.channel()).leave()));
  await until("both are gone", async () => (await dave.channel()).members().length === 2);
  assertEquals(await ownersSeenBy(dave), [carol.client.agentId]);
  await carol.start();
  await allAgree(carol, dave);
  assertEquals(await ownersSeenBy(carol), [carol.client.agentId]);
});

Deno.test("members that are gone when this agent comes back are reported", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await stage.channelOf(3);
  assert(alice && bob && carol && dave);
  const channel = await bob.channel();
  const letIn = sendAway(bob);
  await (await alice.channel()).removeMember(dave.client.agentId);
  await alice.manager.send(name, "dave is gone");
  await comesBack(channel, letIn);
  const [issue] = channel.health().issues.filter(({ kind }) => kind === "members_changed");
  assert(issue !== undefined && issue.text.includes("dave"), issue?.text);
  assertEquals(issue.count, 1);
});

Deno.test("who was away for more changes of the owners than are kept comes back by an owner's new invite", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  const letIn = sendAway(bob);
  const inside = await alice.inside();
  const [both, one] = [[alice, carol], [alice]].map((owners) =>
    owners.map(({ client }) => client.agentId)
  );
  for (let i = 0; i <= limits.ownersChanges; i++) {
    await inside.commit(() => ({ owners: (i % 2 === 0 ? both : one) ?? [] }));
  }
  await alice.manager.send(name, "long after");
  await until("bob asks", () => channel.health().state === "rejoining");
  letIn();
  await until("bob was refused", () => saw(channel, "refused_welcome"));
  const { state, action } = channel.health();
  assertEquals(state, "rejoining");
  assert(action?.includes("new invite"), action);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol);
  assertEquals((await ownersSeenBy(bob)).toSorted(), both?.toSorted());
  await alice.manager.send(name, "welcome back");
  assertEquals(await read(await bob.channel(), 1), ["welcome back"]);
});

Deno.test("a member whose leaf does not list what this version is capable of renews it by itself", async () => {
  await using stage = await Stage.open();
  const alice = await createOlderOwner(stage);
  alice.hurried = true;
  await alice.restart();
  await until("its leaf lists everything", async () => {
    const { current } = (await alice.inside()).group;
    const listed = current.tree.leaf(current.ownLeaf)?.node.capabilities.extensions ?? [];
    return leafExtensions.every((type) => listed.includes(type));
  });
  const bob = await stage.actor("bob");
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await alice.manager.send(name, "as before");
  assertEquals(await read(await bob.channel(), 1), ["as before"]);
});
