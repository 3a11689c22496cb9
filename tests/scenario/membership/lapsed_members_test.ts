/**
 * The relay calls members lapsed that were absent for too long, and keeps nothing for them. That is
 * its word alone: it removes nobody, picks no owner, and is shown beside what this agent has
 * verified itself.
 */
import {
  assert,
  assertEquals,
  assertGreater,
  assertLessOrEqual,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { epochStatement, type NoticeBody } from "../../../proto/mod.ts";
import { defaultCoreConfig } from "../../../relay/core/testing/world.ts";
import { type ChannelMember, StaticError } from "../../../sdk/mod.ts";
import { stateOf } from "../../../sdk/testing/agents.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Members say nothing that the relay does not want them to say. */
const withoutConfirmations: Tampering = {
  notice: (notice) => notice.operation === "DeliverConfirmations" ? [] : [notice],
};

/** The relay tells one member that another one has lapsed, as if its log said so. */
async function tellLapse(stage: Stage, to: Actor, about: Actor): Promise<void> {
  const inside = await to.inside();
  const { channelId, epoch } = inside;
  const head = (await stage.world.engine.findChannel(channelId))?.head ?? 0;
  const body = { channelId, sequence: head + 1, epoch, agentId: about.client.agentId, timeMs: 0 };
  to.session.inject({ kind: "notice", operation: "DeliverLapse", body });
  await until(`${to.label} has heard it`, () => inside.lapsed.includes(about.client.agentId));
}

async function ownersOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).members().filter(({ owner }) => owner).map(({ identity }) =>
    identity
  );
}

async function memberOf(actor: Actor, other: Actor): Promise<ChannelMember> {
  const member = (await actor.channel()).members().find(({ agentId }) =>
    agentId === other.client.agentId
  );
  assert(member, `${actor.label} does not know ${other.label}`);
  return member;
}

Deno.test("an owner that adds somebody removes nobody because the relay calls it lapsed", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await tellLapse(stage, alice, carol);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol, dave);
  assertEquals((await alice.channel()).members().length, 4);
  await alice.manager.send(name, "all here");
  assertEquals(await read(await carol.channel(), 1), ["all here"]);
});

Deno.test("presence() tells what the relay says now, apart from what was heard, and of members alone", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "here");
  const channel = await alice.channel();
  await read(channel, 1);
  const said = async (): Promise<unknown[]> =>
    (await channel.presence()).map(({ agentId, online }) =>
      [alice, bob, carol].map(({ client }) => client.agentId).indexOf(agentId) +
      (online ? "on" : "")
    );
  await until("all are there", async () => String(await said()) === "0on,1on,2on");
  const heard = (await channel.presence()).map(({ lastHeardMs }) => lastHeardMs);
  assertEquals(heard, channel.members().map(({ lastHeardMs }) => lastHeardMs));
  await bob.manager.close();
  await until("bob has gone", async () => String(await said()) === "0on,1,2on");
  // A relay that lies says nothing of what was heard, and shows nobody who is not in the group.
  alice.session.tampering.call = async (operation, _, forward) => {
    if (operation !== "ListMembers") return await forward();
    // cast: of this operation
    const answer = await forward() as { members: { agentId: string; online: boolean }[] };
    const lies = answer.members.map((each) => ({ ...each, online: !each.online }));
    return { ...answer, members: [...lies, { agentId: "x".repeat(22), online: true }] };
  };
  assertEquals(await said(), ["0", "1on", "2"]);
  assertEquals((await channel.presence()).map(({ lastHeardMs }) => lastHeardMs), heard);
  // Without its word, the rest is told.
  alice.session.tampering.call = (operation, _, forward) =>
    operation === "ListMembers" ? Promise.reject(new Error("no")) : forward();
  assertEquals(
    (await channel.presence()).map(({ online, lastHeardMs }) => [online, lastHeardMs]),
    heard.map((each) => [undefined, each]),
  );
});

Deno.test("members() shows what the relay says of a member beside when this agent heard of it, and health() what to do", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "here");
  await read(await alice.channel(), 1);
  await tellLapse(stage, alice, bob);
  const [told, other] = [await memberOf(alice, bob), await memberOf(alice, carol)];
  assertEquals([told.lapsed, other.lapsed], [true, false]);
  assertGreater(told.lastHeardMs ?? 0, alice.agent.parts.runtime.nowMs() - 60_000);
  const lapse = async (): Promise<string | undefined> =>
    (await alice.channel()).health().issues.find(({ kind }) => kind === "member_lapsed")?.text;
  assertStringIncludes(await lapse() ?? "", "removeMember()");
  await alice.restart();
  assertEquals([(await memberOf(alice, bob)).lapsed, (await memberOf(alice, bob)).lastHeardMs], [
    true,
    // On disk to the minute.
    Math.floor((told.lastHeardMs ?? 0) / 60_000) * 60_000,
  ]);
  assertStringIncludes(await lapse() ?? "", bob.client.agentId);
  await (await alice.channel()).removeMember(bob.client.agentId);
  await allAgree(alice, carol);
});

Deno.test("a leaver's heir is the lowest leaf that it has heard of, whomever the relay calls lapsed", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await tellLapse(stage, alice, bob);
  await (await alice.channel()).leave();
  await until("alice is out", async () => (await carol.channel()).members().length === 2);
  assertEquals(await ownersOf(carol), ["bob"]);
});

Deno.test("an owner whom the relay calls lapsed owns the channel still when the other owner leaves", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).promote(carol.client.agentId);
  await allAgree(alice, bob, carol);
  await tellLapse(stage, alice, carol);
  await (await alice.channel()).leave();
  await until("alice is out", async () => (await bob.channel()).members().length === 2);
  assertEquals(await ownersOf(bob), ["carol"]);
});

Deno.test("a leaver that has heard of nobody for a week names its successor; one that spoke is the heir", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await Promise.all([bob.stop(), carol.stop()]);
  alice.clockOffsetMs += 8 * dayMs;
  const channel = await alice.channel();
  const error = await assertRejects(() => channel.leave(), StaticError, "leave({ successor })");
  assertEquals(error.code, "successor_needed");
  await carol.start();
  await carol.manager.send(name, "still here");
  assertEquals(await read(channel, 1), ["still here"]);
  await channel.leave();
  await until("alice is out", async () => (await carol.channel()).members().length === 2);
  assertEquals(await ownersOf(carol), ["carol"]);
  await bob.start();
});

Deno.test("a full channel names the members that were not heard of for a week", async () => {
  const limits = { ...defaultCoreConfig.limits, keyPackagesPerAgent: 1, membersPerChannel: 3 };
  await using stage = await Stage.open({ config: { limits } });
  const { alice, bob, carol } = await stage.trio();
  const dave = await stage.actor("dave");
  const channel = await alice.channel();
  const add = async (): Promise<string> => {
    const keyPackage = await dave.client.generateKeyPackage();
    return (await assertRejects(
      () => channel.addMember(keyPackage),
      StaticError,
      "The channel is full",
    )).message;
  };
  assertStringIncludes(await add(), "All 3 were heard of within 7 days");
  alice.clockOffsetMs += 8 * dayMs;
  await carol.manager.send(name, "still here");
  assertEquals(await read(channel, 1), ["still here"]);
  const told = await add();
  assertStringIncludes(told, `Not heard of for 7 days: ${bob.client.agentId} (for 8 days)`);
  assert(!told.includes(carol.client.agentId));
});

Deno.test("an owner that has heard of no other owner for a week names who follows it; the silent owner may be named", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await alice.channel();
  await channel.promote(carol.client.agentId);
  await allAgree(alice, bob, carol);
  await carol.stop();
  alice.clockOffsetMs += 8 * dayMs;
  await bob.manager.send(name, "still here");
  await read(channel, 1);
  await assertRejects(() => channel.leave(), StaticError, "no other owner");
  await channel.leave({ successor: carol.client.agentId });
  await until("alice is out", async () => (await bob.channel()).members().length === 2);
  assertEquals(await ownersOf(bob), ["carol"]);
  await carol.start();
});

Deno.test("the only owner does not go while it is kept out by the relay's word", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.trio();
  const channel = await alice.channel();
  alice.session.tampering.call = (operation, _body, forward) =>
    operation === "RequestRejoin" || operation === "Subscribe" ? new Promise(() => {}) : forward();
  const body = { channelId: channel.id, sequence: 9, timeMs: 0, reason: "lapsed" as const };
  alice.session.inject({ kind: "notice", operation: "DeliverChannelEnd", body });
  await until("alice is on her way back", () => channel.health().state === "rejoining");
  await assertRejects(() => channel.leave(), StaticError, "this agent is out of step");
  assertEquals(await ownersOf(bob), ["alice"]);
  alice.session.tampering = {};
});

Deno.test("a clock that once stood ahead makes no member an heir that was not heard of since", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await alice.channel();
  alice.clockOffsetMs += 400 * dayMs;
  await bob.manager.send(name, "here");
  await read(channel, 1);
  await bob.stop();
  alice.clockOffsetMs -= 370 * dayMs;
  await carol.manager.send(name, "here");
  await read(channel, 1);
  await channel.leave();
  await until("alice is out", async () => (await carol.channel()).members().length === 2);
  assertEquals(await ownersOf(carol), ["carol"]);
  await bob.start();
});

Deno.test("a member that has just come was heard of just now, by the KeyPackage that it made to come", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  alice.session.tampering = withoutConfirmations;
  const carol = await stage.actor("carol", 3);
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await until("alice sees carol", async () => (await alice.channel()).members().length === 3);
  const { lastHeardMs = 0 } = await memberOf(alice, carol);
  const nowMs = alice.agent.parts.runtime.nowMs();
  assert(lastHeardMs <= nowMs && nowMs - lastHeardMs < 60_000, `${nowMs - lastHeardMs} ms ago`);
});

Deno.test("when a member committed is known after a restart", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  alice.session.tampering = withoutConfirmations;
  await (await bob.inside()).commit();
  await allAgree(alice, bob);
  const { lastHeardMs } = await memberOf(alice, bob);
  assertGreater(lastHeardMs ?? 0, alice.agent.parts.runtime.nowMs() - 60_000);
  await alice.stop();
  await alice.start(withoutConfirmations);
  assertEquals((await memberOf(alice, bob)).lastHeardMs, lastHeardMs);
});

Deno.test("a statement that is repeated after a restart makes nobody look as if it were there then", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  alice.session.tampering = withoutConfirmations;
  const inside = await alice.inside();
  await inside.commit();
  await allAgree(alice, bob);
  const { channelId, epoch } = inside;
  const said = { channelId, epoch, state: stateOf(inside.group.current) };
  const signature = bob.sign(epochStatement(said));
  await bob.stop();
  const beforeMs = alice.agent.parts.runtime.nowMs();
  for (let restart = 0; restart < 2; restart++) {
    alice.clockOffsetMs += 3 * dayMs;
    await alice.stop();
    await alice.start(withoutConfirmations);
    const channel = await alice.channel();
    alice.session.inject({
      kind: "notice",
      operation: "DeliverConfirmations",
      body: { ...said, confirmations: [{ agentId: bob.client.agentId, signature }] },
    });
    const shown = (): ChannelMember | undefined =>
      channel.members().find(({ agentId }) => agentId === bob.client.agentId);
    await until("the statement is there", () => shown()?.confirmedEpoch === epoch);
    assertLessOrEqual(shown()?.lastHeardMs ?? 0, beforeMs);
  }
  await bob.start();
});

Deno.test("statements that a relay kept back, or repeats, make nobody look as if it were there now", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  alice.session.tampering = withoutConfirmations;
  const channel = await alice.channel();
  const inside = await alice.inside();
  const kept: NoticeBody<"DeliverConfirmations">[] = [];
  for (let made = 0; made < 3; made++) {
    await (await alice.inside()).commit();
    await allAgree(alice, bob);
    const said = {
      channelId: channel.id,
      epoch: inside.epoch,
      state: stateOf(inside.group.current),
    };
    kept.push({
      ...said,
      confirmations: [{ agentId: bob.client.agentId, signature: bob.sign(epochStatement(said)) }],
    });
  }
  await bob.stop();
  const beforeMs = alice.agent.parts.runtime.nowMs();
  for (const body of [...kept, ...kept.toReversed()]) {
    alice.clockOffsetMs += 6 * dayMs;
    alice.session.inject({ kind: "notice", operation: "DeliverConfirmations", body });
    assertLessOrEqual((await memberOf(alice, bob)).lastHeardMs ?? 0, beforeMs);
  }
  assertEquals((await memberOf(alice, bob)).confirmedEpoch, kept.at(-1)?.epoch);
  await bob.start();
});
