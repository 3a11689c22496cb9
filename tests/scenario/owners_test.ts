/**
 * The owners of a channel, for members that leave and come back, and in channels from before there were versions of
 * owners.
 */
import { assert, assertEquals } from "@std/assert";
import { type AgentId, limits } from "../../proto/mod.ts";
import type { Channel, IssueKind } from "../../sdk/mod.ts";
import { usurp, withholdCommits } from "../support/scenario/hostile.ts";
import { addOlderMember, createOlderChannel } from "../support/scenario/older_channel.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../support/scenario/stage.ts";

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
  const { committer } = await alice.live();
  for (const owners of [[alice, carol], [carol]]) {
    await committer.commit(() => ({ change: { owners: owners.map(({ client }) => client.agentId) } }));
  }
  await allAgree(alice, carol);
  await alice.stop();
  await carol.manager.send(name, "bob was not told who may say this");
  await comesBack(channel, letIn);
  assertEquals(await ownersSeenBy(bob), [carol.client.agentId]);
  assert(!saw(channel, "refused_welcome"));
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
  const { membership: { group } } = await carol.live();
  assertEquals(group.changes.map(({ kind }) => kind), ["signed", "signed", "signed"]);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await carol.manager.invite(name));
  assertEquals(await ownersSeenBy(dave), [bob.client.agentId]);
});

Deno.test("two owners that leave at once are struck by one that owns nothing", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await stage.channelOf(3);
  assert(alice && bob && carol && dave);
  const { committer } = await alice.live();
  const owners = [alice, bob, carol].map(({ client }) => client.agentId);
  await committer.commit(() => ({ change: { owners } }));
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
  const { committer } = await alice.live();
  const [both, one] = [[alice, carol], [alice]].map((owners) => owners.map(({ client }) => client.agentId));
  for (let i = 0; i <= limits.ownersChanges; i++) {
    await committer.commit(() => ({ change: { owners: (i % 2 === 0 ? both : one) ?? [] } }));
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

async function versionSeenBy(actor: Actor): Promise<number | undefined> {
  return (await actor.live()).membership.group.binding.chain?.version;
}

Deno.test("a channel from before gets versions of owners by itself, and goes on", async () => {
  await using stage = await Stage.open();
  const alice = await createOlderChannel(stage);
  assertEquals(await versionSeenBy(alice), undefined);
  alice.hurried = true;
  await alice.restart();
  await until("the versions have begun", async () => await versionSeenBy(alice) === 1);
  const bob = await stage.actor("bob");
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  assertEquals(await versionSeenBy(bob), 1);
  assertEquals(await ownersSeenBy(bob), [alice.client.agentId]);
  await alice.restart();
  await alice.manager.send(name, "as before");
  assertEquals(await read(await bob.channel(), 1), ["as before"]);
});

Deno.test("a commit that is made anyway begins the versions on its way", async () => {
  await using stage = await Stage.open();
  const alice = await createOlderChannel(stage);
  const bob = await stage.actor("bob");
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  for (const actor of [alice, bob]) assertEquals(await versionSeenBy(actor), 1);
});

Deno.test("a member that slept while the versions began comes back, and believes no false beginning", async () => {
  await using stage = await Stage.open();
  const alice = await createOlderChannel(stage);
  const away = await stage.actor("dave");
  await addOlderMember(alice, away, stage);
  const [bob, mallory] = [await stage.actor("bob"), await stage.actor("carol")];
  for (const guest of [bob, mallory]) await guest.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, mallory);
  assertEquals(await versionSeenBy(bob), undefined);
  const channel = await bob.channel();
  const lies = usurp(bob, mallory, 2);
  await (await alice.channel()).removeMember(away.client.agentId);
  assertEquals(await versionSeenBy(alice), 1);
  await alice.manager.send(name, "in an epoch that bob was not told of");
  await until("bob is back", () => saw(channel, "rejoined"));
  assertEquals(lies(), 2);
  assert(saw(channel, "refused_welcome"));
  await allAgree(alice, bob, mallory);
  assertEquals(await versionSeenBy(bob), 1);
  assertEquals(await ownersSeenBy(bob), [alice.client.agentId]);
});
