/**
 * Foundings that leave out members beside the sender of the bad commit: made by hand, as an owner
 * may make them.
 */
import { assertEquals } from "@std/assert";
import {
  type AgentId,
  foundingEpoch,
  foundingStatement,
  type NoticeBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type BadCommit, storedChannel } from "../../../sdk/testing/agents.ts";
import { idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import {
  allStopped,
  fourMembers,
  issuesOf,
  membersOf,
  stateOf,
  talk,
  withoutKeyPackages,
} from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, Stage, until } from "../../support/scenario/stage.ts";

type Founding = RequestBody<"FoundGeneration">;

async function stoppedAt(actor: Actor): Promise<BadCommit> {
  const { bad } = await storedChannel(actor.agent.parts.store, (await actor.inside()).channelId);
  if (bad === undefined) throw new Error(`${actor.label} is not stopped`);
  return bad;
}

async function foundingOf(owner: Actor, ...without: readonly Actor[]): Promise<Founding> {
  return await (await owner.inside()).foundingBecauseOf(await stoppedAt(owner), idsOf(...without));
}

/** Signed by its founder as it is then. */
function changed(founder: Actor, body: Founding, change: Partial<Founding["founding"]>): Founding {
  const { channelId } = body;
  const founding = { ...body.founding, ...change };
  return {
    ...body,
    founding: {
      ...founding,
      signature: founder.sign(foundingStatement({ channelId, ...founding })),
    },
  };
}

/** Only this member sees it, as a relay may show it. */
function show(actor: Actor, founder: Actor, body: Founding): void {
  const place = {
    sequence: 900_000,
    epoch: foundingEpoch(1),
    sender: founder.client.agentId,
    timeMs: 0,
  };
  const notice: NoticeBody<"DeliverFounding"> = { ...body, ...place };
  actor.session.inject({ kind: "notice", operation: "DeliverFounding", body: notice });
}

/** Alice and carol own the channel, and bob's commit has stopped it. */
async function stoppedWithTwoOwners(stage: Stage): Promise<[Actor, Actor, Actor, Actor]> {
  const four = await fourMembers(stage);
  const [alice, bob, carol, dave] = four;
  await (await alice.inside()).commit(() => ({ owners: idsOf(alice, carol) }));
  await allAgree(...four);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  return [alice, bob, carol, dave];
}

function requestsOf(actor: Actor): () => number {
  let asked = 0;
  actor.session.tampering.call = (operation, _body, forward) => {
    if (operation === "RequestRejoin") asked++;
    return forward();
  };
  return () => asked;
}

Deno.test("an owner's founding that leaves out another member is followed by the rest, and the absent come back", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const erin = await stage.actor("erin");
  await erin.manager.joinWithToken(name, await alice.manager.invite(name));
  await (await alice.inside()).commit(() => ({ owners: idsOf(alice, carol) }));
  await allAgree(alice, bob, carol, dave, erin);
  await sendBogus(bob);
  await allStopped(alice, carol, dave, erin);
  withoutKeyPackages(carol, erin);
  const ofDave = await dave.inside();
  await carol.session.call("FoundGeneration", await foundingOf(carol, dave));
  await talk(alice, erin);
  assertEquals((await membersOf(alice)).filter((label) => ["bob", "dave"].includes(label)), []);
  await until("dave is told", () => ofDave.over !== undefined);
  assertEquals(ofDave.over?.message.includes("was begun anew without this agent"), true);
});

Deno.test("an owner may leave out another owner, which is none any more for those that follow", async () => {
  await using stage = await Stage.open();
  const [alice, , carol, dave] = await stoppedWithTwoOwners(stage);
  await carol.session.call("FoundGeneration", await foundingOf(carol, alice));
  await until("dave follows", async () => (await issuesOf(dave, "recovered")).length > 0);
  const { binding } = (await dave.inside()).group;
  assertEquals([binding.owners, binding.generation?.generation], [idsOf(carol), 1]);
  assertEquals((await dave.inside()).isMember(alice.client.agentId), false);
});

Deno.test("those that a founding leaves out are expelled for all that follow it, so that invites end with them, also after a restart", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await stoppedWithTwoOwners(stage);
  const { epoch } = await dave.inside();
  await carol.session.call("FoundGeneration", await foundingOf(carol, alice));
  await until("dave follows", async () => (await issuesOf(dave, "recovered")).length > 0);
  for (const restart of [false, true]) {
    if (restart) await dave.restart();
    const inside = await dave.inside();
    const expelled = idsOf(alice, bob, carol).map((agentId) =>
      inside.wasExpelledSince(agentId, epoch)
    );
    assertEquals(expelled, [true, true, false]);
  }
});

type Change = (
  ids: { readonly [label in "alice" | "bob" | "carol" | "dave"]: AgentId },
) => Founding["founding"]["without"];
const lists: readonly (readonly [what: string, change: Change])[] = [
  ["that lacks a member of the base", () => []],
  ["that is not ascending", ({ alice, dave }) => [alice, dave].toSorted().toReversed()],
  ["that names a member twice", ({ alice }) => [alice, alice]],
  ["that names the blamed", ({ alice, bob }) => [alice, bob].toSorted()],
  ["that names the founder", ({ alice, carol }) => [alice, carol].toSorted()],
  ["that names a member of the founding", ({ alice, dave }) => [alice, dave].toSorted()],
  // cast: of the right form
  ["that names a stranger", ({ alice }) => [alice, "A".repeat(22) as AgentId].toSorted()],
];

Deno.test("a founding is refused with a list of those left out that does not fit its base", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await stoppedWithTwoOwners(stage);
  const made = await foundingOf(carol, alice);
  const ids = {
    alice: alice.client.agentId,
    bob: bob.client.agentId,
    carol: carol.client.agentId,
    dave: dave.client.agentId,
  };
  for (const [what, change] of lists) {
    show(dave, carol, changed(carol, made, { without: change(ids) }));
    await until(
      `a list ${what} is refused`,
      async () => (await issuesOf(dave, "refused_recovery")).length > 0,
    );
    const [why] = await issuesOf(dave, "refused_recovery");
    assertEquals(
      why?.includes("does not follow from the epoch that it names"),
      true,
      `${what}: ${why}`,
    );
    await dave.restart(); // the relay's log has no such founding: it is forgotten
    await until(
      "it is forgotten",
      async () => (await dave.channel()).health().problem?.includes("signed a commit") === true,
    );
  }
  // An owner that is left out must be none of the owners.
  const { owners } = made.founding;
  show(dave, carol, changed(carol, made, { owners: [...owners, ids.alice].toSorted() }));
  await until(
    "the owners are refused",
    async () => (await issuesOf(dave, "refused_recovery")).length > 0,
  );
});

Deno.test("an owner that a founding leaves out asks nobody, keeps its stop, and recovers when the relay takes that back", async () => {
  await using stage = await Stage.open();
  const [alice, , carol, dave] = await stoppedWithTwoOwners(stage);
  const bad = await stoppedAt(alice);
  show(alice, carol, await foundingOf(carol, alice));
  await until("alice is told", async () => (await issuesOf(alice, "refused_recovery")).length > 0);
  const [why] = await issuesOf(alice, "refused_recovery");
  assertEquals(why?.includes("it was begun without this agent"), true, why);
  const asked = requestsOf(alice);
  await stage.world.time.advance(60 * 60_000);
  assertEquals([asked(), await stateOf(alice), await stoppedAt(alice)], [0, "stopped", bad]);
  assertEquals((await alice.channel()).health().action?.includes("new invite token"), true);
  await alice.restart();
  await until(
    "it is forgotten",
    async () => (await alice.channel()).health().action?.includes("recover()") === true,
  );
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await talk(alice, carol, dave);
});
