/**
 * Channels that require badges, as users meet them: joining, rotation of an issuer's keys, clocks
 * that differ by years, and a member with a modified program.
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { encodeBase64url, formatBadge, nobodyKnown } from "../../../proto/mod.ts";
import type { UnsignedBadge } from "../../../proto/mod.ts";
import { type ChannelIssuer, StaticError } from "../../../sdk/mod.ts";
import { Issuer } from "../../../sdk/mls/testing/issuer.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { stateOf } from "../../../sdk/testing/agents.ts";
import { signedBy } from "../../support/scenario/bad_commits.ts";
import { allStopped, issuesOf, membersOf, recover, talk } from "../../support/scenario/recovery.ts";
import { addOlderMember } from "../../support/scenario/older_member.ts";
import { type Actor, allAgree, name, Stage, until } from "../../support/scenario/stage.ts";

const [acme, next, other] = [
  new Issuer("acme.com", 7),
  new Issuer("acme.com", 8),
  new Issuer("other.org", 9),
];
const yearMs = 365 * 24 * 60 * 60 * 1000;

function listed({ domain, key }: Issuer, more: Partial<ChannelIssuer> = {}): ChannelIssuer {
  return { domain, key: encodeBase64url(key), ...more };
}

/** Badges that are valid now, by the relay's clock. */
function by(stage: Stage, ...issuers: readonly Issuer[]): NonNullable<Actor["badges"]> {
  return timed({ notBefore: secondsOf(stage) - 3600 }, ...issuers);
}

function timed(
  times: Partial<UnsignedBadge>,
  ...issuers: readonly Issuer[]
): NonNullable<Actor["badges"]> {
  return (agentId) => issuers.map((issuer) => formatBadge(issuer.badge(agentId, times)));
}

function secondsOf(stage: Stage): number {
  return Math.floor(stage.world.time.nowMs() / 1000);
}

async function refused(act: Promise<unknown>, code: string): Promise<StaticError> {
  const error = await assertRejects(() => act, StaticError);
  assertEquals(error.code, code, error.message);
  return error;
}

/** All with badges of acme.com, in a channel that requires them. */
async function channelOf(stage: Stage, ...labels: readonly string[]): Promise<Actor[]> {
  const owner = await stage.actor("alice", 1, by(stage, acme));
  const channel = await owner.manager.create(name);
  await channel.setIssuers([listed(acme)]);
  const actors = [owner];
  for (const label of labels) {
    actors.push(await enter(await stage.actor(label, 1, by(stage, acme)), owner));
  }
  await allAgree(...actors);
  return actors;
}

async function enter(actor: Actor, inviter: Actor): Promise<Actor> {
  await actor.manager.joinWithToken(name, await inviter.manager.invite(name));
  return actor;
}

Deno.test("an owner requires badges: members without are named, newcomers without are refused", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice", 1, by(stage, acme));
  const channel = await alice.manager.create(name);
  assertEquals(await channel.issuers(), []);
  const bob = await enter(await stage.actor("bob"), alice);
  const carol = await enter(await stage.actor("carol", 1, by(stage, acme)), alice);
  await allAgree(alice, bob, carol);
  const issuers = [listed(acme)];
  const named = await refused(channel.setIssuers(issuers), "members_not_attested");
  assertEquals(named.members, [bob.client.agentId]);
  await refused(channel.setIssuers([listed(other)]), "members_not_attested");
  await refused((await bob.channel()).setIssuers(issuers), "not_allowed");
  await refused(channel.setIssuers([{ ...listed(acme), domain: "Acme.com" }]), "invalid_request");
  await refused(channel.setIssuers([{ ...listed(acme), key: "AAAA" }]), "invalid_request");
  await channel.setIssuers(issuers, { remove: [bob.client.agentId] });
  await allAgree(alice, carol);
  assertEquals(await (await carol.channel()).issuers(), issuers);
  assertEquals(await membersOf(carol), ["alice", "carol"]);
  const dave = await stage.actor("dave", 1, by(stage, other));
  const error = await refused(enter(dave, carol), "not_attested");
  assertStringIncludes(error.message, "The channel takes badges of acme.com");
  assertEquals((await issuesOf(carol, "refused_join")).length, 1);
  dave.badges = by(stage, acme);
  await dave.restart();
  await enter(dave, carol);
  await talk(alice, carol, dave);
  await channel.setIssuers([]);
  await enter(await stage.actor("erin"), dave);
});

Deno.test("an issuer changes its keys while it is offline: all renew, and nobody is removed", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol] = await channelOf(stage, "bob", "carol");
  assert(alice && bob && carol);
  const channel = await alice.channel();
  await channel.setIssuers([listed(acme), listed(next)]);
  await allAgree(alice, bob, carol);
  // Both badges, for as long as the old key counts; then the new one alone.
  for (const actor of [alice, bob, carol]) {
    actor.badges = by(stage, acme, next);
    await actor.restart();
    await (await actor.channel()).rotate();
  }
  await allAgree(alice, bob, carol);
  await (await alice.channel()).setIssuers([listed(acme, { closed: true }), listed(next)]);
  await allAgree(alice, bob, carol);
  const dave = await stage.actor("dave", 1, by(stage, acme));
  await refused(enter(dave, bob), "not_attested");
  await (await alice.channel()).setIssuers([listed(next)]);
  await allAgree(alice, bob, carol);
  assertEquals(await membersOf(bob), ["alice", "bob", "carol"]);
  await talk(alice, bob, carol);
});

Deno.test("clocks that differ by years, and badges that are over, divide nobody and keep no member out", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol] = await channelOf(stage, "bob", "carol");
  assert(alice && bob && carol);
  bob.clockOffsetMs = 3 * yearMs;
  const over = secondsOf(stage) - 7200;
  // Carol's badge is over for everybody, and it lost its directory to an older copy.
  const backup = await carol.backup();
  await (await carol.channel()).rotate();
  await allAgree(alice, bob, carol);
  carol.badges = timed({ notBefore: over - 3600, notAfter: over }, acme);
  await carol.restore(backup);
  await until("carol is back", async () => (await carol.channel()).health().state === "ok");
  await allAgree(alice, bob, carol);
  await (await alice.channel()).promote(bob.client.agentId);
  await allAgree(alice, bob, carol);
  await (await bob.channel()).promote(carol.client.agentId);
  await enter(await stage.actor("dave", 1, by(stage, acme)), alice);
  await talk(alice, bob, carol);
});

Deno.test("a modified member lets in an agent without a badge: all refuse it, and recovery removes the sender", async () => {
  await using stage = await Stage.open();
  const [alice, bob, mallory] = await channelOf(stage, "bob", "mallory");
  assert(alice && bob && mallory);
  const friend = await stage.actor("friend");
  const hostile = await HostileMember.of(mallory.agent, name);
  const keyPackage = await friend.client.generateKeyPackage();
  const { message, next: after, welcome } = hostile.commitTo({}, [keyPackage]);
  const added = [friend.client.agentId];
  const commit = await signedBy(mallory, message, {
    nextState: stateOf(after),
    added,
    welcomes: welcome === undefined ? [] : [{ recipients: added, welcome }],
  });
  await mallory.session.call("SendCommit", commit);
  await allStopped(alice, bob);
  await mallory.stop();
  await recover(alice);
  await talk(alice, bob);
  assertEquals(await membersOf(bob), ["alice", "bob"]);
  assertEquals(await (await bob.channel()).issuers(), [listed(acme)]);
  await mallory.start();
});

Deno.test("an owner learns whose badge is over, and of a key that its list does not have; all go in one commit", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await channelOf(stage, "bob", "carol", "dave");
  assert(alice && bob && carol && dave);
  const soon = secondsOf(stage) + 60;
  for (const actor of [bob, carol]) {
    actor.badges = timed({ notBefore: secondsOf(stage) - 3600, notAfter: soon }, acme);
    await actor.restart();
    await (await actor.channel()).rotate();
  }
  await allAgree(alice, bob, carol, dave);
  const channel = await alice.channel();
  const ends = (actor: Actor): number | undefined =>
    channel.members().find(({ agentId }) => agentId === actor.client.agentId)?.badgeEndsMs;
  assertEquals([ends(bob), ends(carol)], [soon * 1000, soon * 1000]);
  assert((ends(dave) ?? 0) > soon * 1000);
  assertEquals(await issuesOf(alice, "badge_expired"), []);
  await stage.world.time.advance(62_000);
  const [told] = await issuesOf(alice, "badge_expired");
  for (const actor of [bob, carol]) assertStringIncludes(told ?? "", actor.client.agentId);
  assertEquals(told?.includes(dave.client.agentId), false);
  // Others are told of their own.
  assertEquals(await issuesOf(dave, "badge_expired"), []);
  assertEquals((await issuesOf(bob, "badge_expired")).length, 1);

  // Dave's user knows acme.com by another key.
  assertEquals(await issuesOf(dave, "issuer_differs"), []);
  const keys = [{ kid: "2026-11", key: next.key, closed: false }];
  const issuer = { keys, source: "file", readMs: 0, changed: false } as const;
  dave.trust = { ...nobodyKnown, domains: new Map([["acme.com", issuer]]) };
  await dave.restart();
  assertEquals((await issuesOf(dave, "issuer_differs")).length, 1);
  const [inviter] = (await dave.channel()).members();
  assertEquals(inviter?.attested, undefined);

  const { epoch } = channel.health();
  const remove = [bob, carol].map(({ client }) => client.agentId);
  await channel.setIssuers(undefined, { remove });
  await allAgree(alice, dave);
  assertEquals(channel.health().epoch, epoch + 1);
  assertEquals(await channel.issuers(), [listed(acme)]);
  assertEquals(await membersOf(dave), ["alice", "dave"]);
});

Deno.test("an agent that does not enter leaves at once: it is nobody's member, and comes in by a later invite", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice", 1, by(stage, other));
  const channel = await alice.manager.create(name);
  const bob = await stage.actor("bob");
  const keys = [{ kid: "2026-11", key: acme.key, closed: false }];
  const issuer = { keys, source: "file", readMs: 0, changed: false } as const;
  bob.trust = { ...nobodyKnown, domains: new Map([["acme.com", issuer]]) };
  await bob.restart();
  const join = async (demands: { from?: string; requireIssuers?: boolean }): Promise<unknown> =>
    await bob.manager.joinWithToken(name, await alice.manager.invite(name), demands);
  for (const demands of [{ from: "acme.com" }, { requireIssuers: true }, { from: "acme.com" }]) {
    await refused(join(demands), "not_attested");
    await until("the others have it no more", () => channel.members().length === 1);
    assertEquals(bob.client.channels, []);
  }
  await join({});
  await talk(alice, bob);
});

Deno.test("a member whose version knows no badges stays, is named when they are to be required, and may go in the same step", async () => {
  await using stage = await Stage.open();
  const [alice, older] = [
    await stage.actor("alice", 1, by(stage, acme)),
    await stage.actor("dave"),
  ];
  const channel = await alice.manager.create(name, { postQuantum: "prefer" });
  await addOlderMember(alice, older, stage);
  const bob = await enter(await stage.actor("bob", 1, by(stage, acme)), alice);
  await talk(alice, bob);
  const error = await refused(channel.setIssuers([listed(acme)]), "members_must_update");
  assertEquals(error.members, [older.client.agentId]);
  assertEquals(await channel.issuers(), []);
  await channel.setIssuers([listed(acme)], { remove: [older.client.agentId] });
  await talk(alice, bob);
});
