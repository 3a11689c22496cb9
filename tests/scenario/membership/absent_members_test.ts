/**
 * Members of a recovered channel that are not back yet: they belong to it, and nobody but an owner
 * sends them away.
 */
import { assertEquals, assertRejects } from "@std/assert";
import type { AgentId } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { decodeKeyPackageMessage } from "../../../sdk/testing/agents.ts";
import { idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import { answerWith } from "../../support/scenario/hostile.ts";
import {
  allStopped,
  fourMembers,
  issuesOf,
  membersOf,
  recoverWithout,
  talk,
  withoutKeyPackages,
} from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, Stage, until } from "../../support/scenario/stage.ts";

async function absentOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).members().filter(({ absent }) => absent).map(({ identity }) =>
    identity
  );
}

/**
 * Of one and the same channel: one that is over by the relay's word begins anew when it is opened.
 */
async function isEnded(actor: Actor): Promise<void> {
  const channel = await actor.channel();
  await until(`${actor.label} is told`, () => channel.health().state === "ended");
}

Deno.test("waitForMember() returns no member that was absent and is back: it has not come anew", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const channel = await alice.channel();
  for (const _ of [bob, carol, dave]) await channel.waitForMember(undefined, { timeoutMs: 1 });
  await recoverWithout(alice, bob, dave);
  await dave.start();
  await talk(alice, carol, dave);
  assertEquals(await channel.waitForMember(undefined, { timeoutMs: 1 }), undefined);
});

Deno.test("an absent member is shown, and is no member any more once an owner has removed it", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const inside = await alice.inside();
  await inside.commit(() => ({ owners: idsOf(alice, dave) }));
  await allAgree(alice, bob, carol, dave);
  await recoverWithout(alice, bob, dave);
  await talk(alice, carol);
  for (const actor of [alice, carol]) assertEquals(await absentOf(actor), ["dave"]);
  await (await alice.channel()).removeMember(dave.client.agentId);
  await talk(alice, carol);
  assertEquals([await absentOf(alice), await absentOf(carol)], [[], []]);
  assertEquals((await carol.inside()).group.binding.owners, idsOf(alice));
  const { channelId } = await carol.inside();
  const { members } = await carol.session.call("ListMembers", { channelId });
  assertEquals(members.map(({ agentId }) => agentId).toSorted(), idsOf(alice, carol).toSorted());
  await dave.start();
  await isEnded(dave);
  assertEquals((await membersOf(carol)).length, 2);
});

Deno.test("a member that owns nothing gives the identity of an absent member to nobody else", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await recoverWithout(alice, bob, dave);
  await talk(alice, carol);
  const stranger = await stage.actor("dave");
  const keyPackage = await stranger.client.generateKeyPackage();
  await assertRejects(
    async () => await (await carol.channel()).addMember(keyPackage),
    StaticError,
    "another key",
  );
  const inside = await carol.inside();
  const change = { add: [decodeKeyPackageMessage(keyPackage)] };
  await assertRejects(() => inside.commit(() => change), StaticError, "twice");
  await dave.start();
  await talk(alice, carol, dave);
});

Deno.test("a member that owns nothing makes no commit that brings an absent member in without its word: nobody would follow it", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const keyPackage = await dave.client.generateKeyPackage();
  await recoverWithout(alice, bob, dave);
  await talk(alice, carol);
  // A relay would take it that wants the member blamed for it.
  const sent: unknown[] = [];
  carol.session.tampering.call = (operation, body, forward) => {
    if (operation === "SendCommit") sent.push(body);
    return forward();
  };
  await assertRejects(
    async () => await (await carol.channel()).addMember(keyPackage),
    StaticError,
    "ask an owner",
  );
  assertEquals(sent, []);
  await (await alice.channel()).addMember(keyPackage);
  await allAgree(alice, carol);
  assertEquals(await absentOf(carol), []);
});

Deno.test("an owner gives the identity of an absent member to another key only by naming that member", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await recoverWithout(alice, bob, dave);
  await talk(alice, carol);
  const stranger = await stage.actor("dave");
  const channel = await alice.channel();
  const keyPackage = await stranger.client.generateKeyPackage();
  await assertRejects(() => channel.addMember(keyPackage), StaticError, dave.client.agentId);
  const welcome = await channel.addMember(keyPackage, { replaces: dave.client.agentId });
  await stranger.client.joinChannel(name, welcome);
  await talk(alice, carol, stranger);
  assertEquals(await absentOf(carol), []);
});

Deno.test("a member that left a stopped channel is removed also when its founder dies right after the founding", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  await (await carol.channel()).leave();
  alice.clockOffsetMs += 61_000;
  // The process dies before it has done anything in the new generation.
  alice.session.tampering.call = (operation, _body, forward) =>
    operation === "SendCommit" ? new Promise(() => {}) : forward();
  await (await alice.channel()).recover();
  await alice.crash();
  await talk(alice, dave);
  await until("carol is removed", async () => (await absentOf(dave)).length === 0);
  const { channelId } = await dave.inside();
  const { members } = await dave.session.call("ListMembers", { channelId });
  assertEquals(members.map(({ agentId }) => agentId).toSorted(), idsOf(alice, dave).toSorted());
});

Deno.test("an absent member that the relay leaves out of its lists stays one, and comes back", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const hidden: AgentId = dave.client.agentId;
  for (const actor of [alice, carol]) {
    actor.session.tampering.call = async (operation, _body, forward) => {
      const reply = await forward();
      if (operation !== "ListMembers") return reply;
      // cast: of this operation
      const { members, ...rest } = reply as { members: { agentId: AgentId }[] };
      return { ...rest, members: members.filter(({ agentId }) => agentId !== hidden) };
    };
  }
  const { call } = alice.session.tampering;
  await dave.stop();
  withoutKeyPackages(alice, dave);
  const { call: claim } = alice.session.tampering;
  alice.session.tampering.call = (operation, body, forward) =>
    (operation === "ClaimForFounding" ? claim : call)?.(operation, body, forward) ?? forward();
  await sendBogus(bob);
  await allStopped(alice);
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await talk(alice, carol);
  assertEquals(await absentOf(alice), ["dave"]);
  await dave.start();
  await talk(alice, carol, dave);
});

Deno.test("the only member that is back does not leave over those that are absent, and does once they are removed", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await recoverWithout(alice, bob, carol);
  const channel = await alice.channel();
  await assertRejects(() => channel.leave(), StaticError, carol.client.agentId);
  assertEquals(channel.health().state, "ok");
  await channel.send("still here");
  await channel.removeMember(carol.client.agentId);
  await channel.leave();
  await carol.start();
  await isEnded(carol);
});

Deno.test("an owner that leaves strikes no absent owner", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const inside = await alice.inside();
  await inside.commit(() => ({ owners: idsOf(alice, dave) }));
  await allAgree(alice, bob, carol, dave);
  await recoverWithout(alice, bob, dave);
  await talk(alice, carol);
  await (await alice.channel()).leave();
  await until("alice is out", async () => (await membersOf(carol)).length === 1);
  await dave.start();
  await talk(carol, dave);
  assertEquals((await carol.inside()).group.binding.owners, idsOf(dave));
  assertEquals(await issuesOf(carol, "void_leave"), []);
});

Deno.test("a member that owns nothing leads a stopped owner into no group that has forgotten an absent member", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await recoverWithout(alice, bob, dave);
  await talk(alice, carol);
  const answered = answerWith(alice, carol, 1, async (hostile, keyPackage) => {
    const { generation } = (await carol.inside()).group.binding;
    if (generation === undefined) throw new Error("the channel was not begun anew");
    const binding = { generation: { ...generation, absent: [] } };
    const { welcome } = hostile.commitTo(binding, [keyPackage], [alice.client.agentId]);
    return welcome ?? new Uint8Array(0);
  });
  await sendBogus(carol);
  await until("alice is told", async () => (await issuesOf(alice, "refused_welcome")).length > 0);
  const [why] = await issuesOf(alice, "refused_welcome");
  assertEquals([answered(), why?.includes("members are missing from it")], [1, true], why);
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await dave.start();
  await talk(alice, dave);
});
