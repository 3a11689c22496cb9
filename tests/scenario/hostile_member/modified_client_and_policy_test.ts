/**
 * Members with a modified client against owners and policy, at an honest relay and with one that
 * helps them: nobody honest does what they want, and the rest of the channel goes on without them.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Channel, StaticError } from "../../../sdk/mod.ts";
import { decodeKeyPackageMessage, stateOf } from "../../../sdk/testing/agents.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { idsOf, signedBy } from "../../support/scenario/bad_commits.ts";
import { declareNothing } from "../../support/scenario/hostile.ts";
import { allStopped, issuesOf, membersOf, recover, talk } from "../../support/scenario/recovery.ts";
import {
  type Actor,
  allAgree,
  issueCount,
  name,
  read,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

async function closedTrio(
  stage: Stage,
  policy: Parameters<Channel["setPolicy"]>[0],
): Promise<[Actor, Actor, Actor]> {
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).setPolicy(policy);
  await allAgree(alice, bob, carol);
  return [alice, bob, carol];
}

/** Nobody follows the member, an owner begins the channel anew, and it is out. */
async function goOnWithout(bob: Actor, alice: Actor, carol: Actor): Promise<void> {
  await allStopped(alice, carol);
  for (const actor of [alice, carol]) {
    const { problem } = (await actor.channel()).health();
    assert(problem?.includes(bob.client.agentId), problem);
  }
  await recover(alice);
  await allAgree(alice, carol);
  assertEquals(await membersOf(carol), ["alice", "carol"]);
}

Deno.test("a member that promotes itself is refused by the relay, and by everybody when the relay looks away", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol] = await closedTrio(stage, { admission: "owners" });
  const inside = await bob.inside();
  const promote = (): Promise<unknown> => inside.commit(() => ({ owners: idsOf(alice, bob) }));
  const error = await assertRejects(promote, StaticError);
  assertEquals(error.code, "not_allowed");
  await allAgree(alice, bob, carol);
  declareNothing(bob);
  void promote().catch(() => {});
  await goOnWithout(bob, alice, carol);
  assertEquals((await carol.channel()).policy().admission, "owners");
  await talk(alice, carol);
});

Deno.test("under admission by owners those whom a member's addition has stopped are not let back in by that member", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol] = await closedTrio(stage, { admission: "owners" });
  const mallory = await stage.actor("mallory");
  const keyPackage = decodeKeyPackageMessage(await mallory.client.generateKeyPackage());
  // His own program follows it, and answers those that ask to come back.
  await (await bob.inside()).commit(() => ({ add: [keyPackage] }));
  for (const actor of [alice, carol]) {
    await until(`${actor.label} says why`, async () => {
      const refused = await issuesOf(actor, "refused_welcome");
      return refused.some((text) => text.includes("whom its maker may not let in"));
    });
  }
  await goOnWithout(bob, alice, carol);
  await talk(alice, carol);
});

Deno.test("under admission by owners a member that lets somebody in is followed by nobody, and its guest sees through it", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol] = await closedTrio(stage, { admission: "owners" });
  const mallory = await stage.actor("mallory");
  const keyPackage = await mallory.client.generateKeyPackage();
  const hostile = await HostileMember.of(bob.agent, name);
  const { message, next, welcome } = hostile.commitTo({}, [keyPackage]);
  assert(welcome);
  const added = idsOf(mallory);
  const change = { added, welcomes: [{ recipients: added, welcome }], nextState: stateOf(next) };
  await bob.session.call("SendCommit", await signedBy(bob, message, change));
  await goOnWithout(bob, alice, carol);
  await alice.manager.send(name, "among us");
  assertEquals(await read(await carol.channel(), 1), ["among us"]);
  const refused = await assertRejects(() => mallory.client.joinChannel(name, welcome), StaticError);
  assert(refused.message.includes("only owners let agents"), refused.message);
  assertEquals(mallory.client.channels, []);
});

Deno.test("under posting by owners a member that speaks is heard by nobody, whoever the relay says it is", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol] = await closedTrio(stage, { posting: "owners" });
  const hostile = await HostileMember.of(bob.agent, name);
  await hostile.send(await hostile.counted(1, "hear me"));
  carol.session.tampering.notice = (notice) =>
    notice.operation === "DeliverMessage" && notice.body.sender === bob.client.agentId
      ? [{ ...notice, body: { ...notice.body, sender: alice.client.agentId } }]
      : [notice];
  await hostile.send(await hostile.counted(2, "I am alice"));
  await alice.manager.send(name, "only I speak");
  for (const actor of [bob, carol]) {
    assertEquals(await read(await actor.channel(), 1), ["only I speak"]);
  }
  for (const actor of [alice, carol]) {
    const channel = await actor.channel();
    await until("both were seen", () => issueCount(channel, "posted_against_policy") === 2);
    await until("nothing is left to be read", () => channel.health().unread === 0);
    const [issue] = channel.health().issues.filter(({ kind }) => kind === "posted_against_policy");
    assert(issue?.text.includes(bob.client.agentId), issue?.text);
  }
  // Its counters were taken note of: as an owner it goes on where it was.
  await (await alice.channel()).promote(bob.client.agentId);
  await allAgree(alice, bob, carol);
  const owner = await HostileMember.of(bob.agent, name);
  await owner.send(await owner.counted(3, "now I may"));
  carol.session.tampering = {};
  for (const actor of [alice, carol]) {
    const channel = await actor.channel();
    assertEquals(await read(channel, 1), ["now I may"]);
    assertEquals(channel.health().missing, []);
  }
});

Deno.test("a commit that drops the policy under cover of another purpose is followed by nobody, be it an owner's", async () => {
  for (const isOwner of [false, true]) {
    await using stage = await Stage.open();
    const [alice, bob, carol] = await closedTrio(stage, { admission: "owners", posting: "owners" });
    if (isOwner) {
      await (await alice.channel()).promote(bob.client.agentId);
      await allAgree(alice, bob, carol);
    }
    const hostile = await HostileMember.of(bob.agent, name);
    const open = { admission: "members", posting: "members" } as const;
    const { message, next } = hostile.commitTo({ policy: open });
    await bob.session.call(
      "SendCommit",
      await signedBy(bob, message, { nextState: stateOf(next) }),
    );
    await goOnWithout(bob, alice, carol);
    assertEquals((await carol.channel()).policy(), { admission: "owners", posting: "owners" });
    const send = async (): Promise<unknown> => await (await carol.channel()).send("may I?");
    assertEquals((await assertRejects(send, StaticError)).code, "not_allowed");
  }
});
