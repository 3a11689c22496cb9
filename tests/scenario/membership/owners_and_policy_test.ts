/**
 * Several owners and a policy, as users of a channel meet them: rights, races, handing over, and
 * coming back.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { AgentId } from "../../../proto/mod.ts";
import {
  type Channel,
  ChannelError,
  type ChannelEvent,
  type IssueKind,
  StaticError,
} from "../../../sdk/mod.ts";
import { idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import { withholdCommits } from "../../support/scenario/hostile.ts";
import { addOlderMember } from "../../support/scenario/older_member.ts";
import { allStopped, recover, talk } from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

async function ownersSeenBy(actor: Actor): Promise<string[]> {
  return (await actor.channel()).members().flatMap(({ identity, owner }) => owner ? [identity] : [])
    .toSorted();
}

const saw = (channel: Channel, wanted: IssueKind): boolean =>
  channel.health().issues.some(({ kind }) => kind === wanted);

async function refused(
  act: Promise<unknown>,
  code: string,
  ...parts: readonly string[]
): Promise<StaticError> {
  const error = await assertRejects(() => act, StaticError);
  assertEquals(error.code, code, error.message);
  for (const part of parts) assert(error.message.includes(part), error.message);
  return error;
}

async function setPolicy(
  by: Actor,
  policy: Parameters<Channel["setPolicy"]>[0],
  ...all: readonly Actor[]
): Promise<void> {
  await (await by.channel()).setPolicy(policy);
  await allAgree(by, ...all);
}

Deno.test("promote and demote make owners of members, by owners only, and the last owner stays one", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const [alices, bobs] = [await alice.channel(), await bob.channel()];
  await refused(bobs.promote(bob.client.agentId), "not_allowed", "only owners may");
  await alices.promote(bob.client.agentId);
  await alices.promote(bob.client.agentId);
  await allAgree(alice, bob, carol);
  for (const actor of [alice, bob, carol]) {
    assertEquals(await ownersSeenBy(actor), ["alice", "bob"]);
  }
  await bobs.removeMember(carol.client.agentId);
  await refused(alices.promote(carol.client.agentId), "not_found", "not a member");
  await alices.demote(alice.client.agentId);
  await allAgree(alice, bob);
  assertEquals(await ownersSeenBy(bob), ["bob"]);
  const left = await refused(bobs.demote(bob.client.agentId), "successor_needed", "last owner");
  assertEquals(left.members, idsOf(alice));
  await refused(
    alices.demote(bob.client.agentId),
    "not_allowed",
    `${alice.client.agentId} demoted it`,
  );
});

Deno.test("of two owners that demote each other the first stays, and the other is told who demoted it", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).promote(bob.client.agentId);
  await allAgree(alice, bob, carol);
  const demotions = [[alice, bob], [bob, alice]].map(async ([by, who]) =>
    await (await by?.channel())?.demote(who?.client.agentId ?? "")
  );
  const ended = await Promise.allSettled(demotions);
  const lost = ended.flatMap((each) => each.status === "rejected" ? [each.reason] : []);
  assertEquals(lost.length, 1);
  await allAgree(alice, bob, carol);
  const owners = await ownersSeenBy(carol);
  assertEquals(owners.length, 1);
  const winner = owners[0] === "alice" ? alice : bob;
  assert(
    lost[0] instanceof ChannelError &&
      lost[0].message.includes(`${winner.client.agentId} demoted it`),
    lost[0],
  );
});

Deno.test("an owner that is demoted while it removes somebody makes no commit that nobody could follow", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).promote(bob.client.agentId);
  await allAgree(alice, bob, carol);
  let commits = 0;
  alice.session.tampering.call = async (operation, _body, forward) => {
    if (operation === "SendCommit" && ++commits === 1) {
      await (await bob.channel()).demote(alice.client.agentId);
    }
    return await forward();
  };
  const removing = (await alice.channel()).removeMember(carol.client.agentId);
  await refused(removing, "not_allowed", `${bob.client.agentId} demoted it`);
  assertEquals(commits, 1, "a relay that looks away would take the second, and stop the channel");
  await allAgree(alice, bob, carol);
});

Deno.test("under admission by owners others neither invite nor add, and an invite from before lets nobody in", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const early = await bob.manager.invite(name);
  await setPolicy(alice, { admission: "owners" }, bob, carol);
  for (const actor of [alice, bob, carol]) {
    assertEquals((await actor.channel()).policy(), { admission: "owners", posting: "members" });
  }
  await refused(bob.manager.invite(name), "not_allowed", "Only owners", '"alice"');
  const dave = await stage.actor("dave");
  const keyPackage = await dave.client.generateKeyPackage();
  await refused((await bob.channel()).addMember(keyPackage), "not_allowed", "Only owners");
  await refused(dave.manager.joinWithToken(name, early), "join_rejected", "Only owners");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await talk(alice, bob, carol, dave);
  await (await alice.channel()).promote(bob.client.agentId);
  const erin = await stage.actor("erin");
  await erin.manager.joinWithToken(name, await bob.manager.invite(name));
  assertEquals((await erin.channel()).policy().admission, "owners");
});

Deno.test("under posting by owners the others listen: their sends fail, and what waits is not sent later", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const events: ChannelEvent[] = [];
  const stop = new AbortController();
  const bobs = await bob.channel();
  const listening = (async () => {
    for await (const event of bobs.events({ signal: stop.signal })) {
      if (event.type !== "missed") events.push(event);
    }
  })();
  await setPolicy(alice, { posting: "owners" }, bob, carol);
  await refused(bobs.send("may I?"), "not_allowed", "only owners speak");
  await alice.manager.send(name, "listen");
  for (const actor of [bob, carol]) assertEquals(await read(await actor.channel(), 1), ["listen"]);
  await (await alice.channel()).promote(bob.client.agentId);
  await allAgree(alice, bob, carol);
  await bobs.send("thank you");
  for (const actor of [alice, carol]) {
    const channel = await actor.channel();
    assertEquals(await read(channel, 1), ["thank you"]);
    assertEquals(channel.health().missing, [], "the counter was given back");
  }
  stop.abort();
  await listening;
  const told = events.flatMap((event) => event.type === "policy_changed" ? [event] : []);
  assertEquals(told.map(({ policy, by }) => [policy.posting, by]), [[
    "owners",
    alice.client.agentId,
  ]]);
});

Deno.test("a message that waits while the policy changes is judged by the epoch in which it would be sealed", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  let away = true;
  withholdCommits(bob, () => !away);
  await setPolicy(alice, { posting: "owners" });
  const sending = channel.send("sealed in the epoch before");
  sending.catch(() => {});
  away = false;
  bob.session.disconnect();
  await bob.session.connect();
  await refused(sending, "not_allowed", "only owners speak");
  await alice.manager.send(name, "so it is");
  assertEquals(await read(channel, 1), ["so it is"]);
  const alices = await alice.channel();
  assertEquals([alices.health().unread, saw(alices, "posted_against_policy")], [0, false]);
});

Deno.test("a policy change that races with adds and sends stops nobody", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const dave = await stage.actor("dave");
  const keyPackage = await dave.client.generateKeyPackage();
  const [alices, bobs, carols] = [
    await alice.channel(),
    await bob.channel(),
    await carol.channel(),
  ];
  const results = await Promise.allSettled([
    alices.setPolicy({ admission: "owners", posting: "owners" }),
    bobs.addMember(keyPackage),
    carols.send("now"),
    bobs.send("or then"),
  ]);
  assertEquals(results[0]?.status, "fulfilled");
  for (const each of results) {
    if (each.status === "rejected") {
      assertEquals(each.reason.code, "not_allowed", String(each.reason));
    }
  }
  await allAgree(alice, bob, carol);
  for (const channel of [alices, bobs, carols]) {
    assertEquals(channel.health().state, "ok");
    assertEquals(channel.policy(), { admission: "owners", posting: "owners" });
    assert(!saw(channel, "posted_against_policy"));
  }
  assertEquals(alices.members().length, results[1]?.status === "fulfilled" ? 4 : 3);
});

Deno.test("where owners have rights the last one leaves only with a successor that it names", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await setPolicy(alice, { posting: "owners" }, bob, carol);
  const channel = await alice.channel();
  const needed = await refused(channel.leave(), "successor_needed", "leave({ successor })");
  assertEquals(needed.members?.toSorted(), idsOf(bob, carol).toSorted());
  await refused(
    channel.leave({ successor: "A".repeat(22) }),
    "invalid_request",
    "is not a member, or is leaving",
  );
  assertEquals(channel.health().state, "ok");
  await channel.leave({ successor: carol.client.agentId });
  await until("alice is gone", async () => (await bob.channel()).members().length === 2);
  await allAgree(bob, carol);
  assertEquals(await ownersSeenBy(bob), ["carol"]);
  await carol.manager.send(name, "mine now");
  assertEquals(await read(await bob.channel(), 1), ["mine now"]);
});

Deno.test("the last owner that dies in the middle of handing over finds the channel with an owner, and leaves then", async () => {
  for (const writes of [0, 1, 2]) {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    await setPolicy(alice, { posting: "owners" }, bob, carol);
    const successor = carol.client.agentId;
    const dead = alice.diesAfter(writes);
    const leaving = (await alice.channel()).leave({ successor }).catch(() => {});
    await dead;
    await alice.crash();
    await leaving;
    if (alice.client.channels.length > 0) {
      const owners: AgentId[] = (await alice.inside()).group.binding.owners.slice();
      assert(owners.includes(alice.client.agentId) || owners.includes(successor));
      const channel = await alice.channel();
      await until(
        "it knows where it stands",
        () => ["ok", "ended"].includes(channel.health().state),
      );
      if (channel.health().state === "ok") await channel.leave({ successor });
    }
    await until(
      `alice is gone after ${writes} writes`,
      async () => (await bob.channel()).members().length === 2,
    );
    await allAgree(bob, carol);
    assertEquals(await ownersSeenBy(bob), ["carol"]);
  }
});

Deno.test("a member that was away while the policy changed comes back under it, and believes nothing else", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let away = true;
  withholdCommits(bob, () => !away);
  const channel = await bob.channel();
  await setPolicy(alice, { admission: "owners", posting: "owners" }, carol);
  await alice.manager.send(name, "bob was not told");
  await until("it asks", () => channel.health().state === "rejoining" || saw(channel, "rejoined"));
  // Carol may not let newcomers in; a member that comes back is none.
  await alice.stop();
  away = false;
  await until("it is back", () => saw(channel, "rejoined"));
  assertEquals(channel.policy(), { admission: "owners", posting: "owners" });
  await refused(channel.send("hello"), "not_allowed");
  await alice.start();
  await allAgree(alice, bob, carol);
});

Deno.test("a channel that is begun anew keeps its policy, and what the stopped commit did to it is undone", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol, dave);
  await setPolicy(alice, { admission: "owners" }, bob, carol, dave);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  await recover(alice);
  await talk(alice, carol, dave);
  for (const actor of [alice, carol, dave]) {
    assertEquals((await actor.channel()).policy(), { admission: "owners", posting: "members" });
  }
  await refused(carol.manager.invite(name), "not_allowed");
  const erin = await stage.actor("erin");
  await erin.manager.joinWithToken(name, await alice.manager.invite(name));
  await setPolicy(alice, { admission: "members" }, carol, dave, erin);
  assertEquals((await erin.channel()).policy().admission, "members");
});

Deno.test("members whose version knows no policies are named, and the channel stays as it was", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice } = await stage.pair();
  const older = await stage.actor("dave");
  await addOlderMember(alice, older, stage);
  const channel = await alice.channel();
  const error = await refused(
    channel.setPolicy({ posting: "owners" }),
    "members_must_update",
    older.client.agentId,
  );
  assertEquals(error.members, idsOf(older));
  assertEquals(channel.policy(), { admission: "members", posting: "members" });
  await channel.removeMember(older.client.agentId);
  await channel.setPolicy({ posting: "owners" });
  assertEquals(channel.policy().posting, "owners");
});

Deno.test("a part of the policy that is given as undefined stays as it is, and one that is nothing stops no channel", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  await channel.setPolicy({ admission: "owners" });
  // Programs without types give what they have.
  // cast: see above
  const loose = { admission: undefined, posting: "owners" } as unknown as { posting: "owners" };
  await channel.setPolicy(loose);
  assertEquals(channel.policy(), { admission: "owners", posting: "owners" });
  await channel.setPolicy({ ...loose, posting: undefined } as unknown as object); // cast: see above
  assertEquals(channel.policy(), { admission: "owners", posting: "owners" });
  for (const wrong of ["everybody", "", null, 0]) {
    const policy = { admission: wrong } as unknown as object; // cast: see above
    await assertRejects(() => channel.setPolicy(policy), StaticError);
  }
  await allAgree(alice, bob);
  assertEquals((await bob.channel()).policy(), { admission: "owners", posting: "owners" });
});
