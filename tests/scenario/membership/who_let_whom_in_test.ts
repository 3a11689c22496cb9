/**
 * Members remember of each other: by whom each came in, and which doors were struck. On disk, and
 * over a return.
 */
import { assertEquals } from "@std/assert";
import type { MemberOrigin } from "../../../sdk/testing/agents.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import {
  allStopped,
  issuesOf,
  recover,
  sendGarbled,
  talk,
} from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, Stage, until } from "../../support/scenario/stage.ts";

/** Alice owns the channel and let bob in by an invite; carol and dave came by one of bob's. */
async function twoOfBobs(stage: Stage): Promise<[Actor, Actor, Actor, Actor]> {
  const { alice, bob } = await stage.pair();
  const [carol, dave] = [await stage.actor("carol"), await stage.actor("dave")];
  const token = await bob.manager.invite(name, { uses: 2 });
  for (const guest of [carol, dave]) await guest.manager.joinWithToken(name, token);
  await allAgree(alice, bob, carol, dave);
  return [alice, bob, carol, dave];
}

async function rowOf(actor: Actor, of: Actor): Promise<MemberOrigin | undefined> {
  return (await actor.inside()).lineage.since.get(of.client.agentId);
}

Deno.test("each member remembers by whom those came in that came after it, also after a restart", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await twoOfBobs(stage);
  const invite = (await rowOf(alice, bob))?.root;
  assertEquals([invite?.startsWith("invite "), (await rowOf(alice, bob))?.through], [
    true,
    alice.client.agentId,
  ]);
  for (const guest of [carol, dave]) {
    const ofAlice = await rowOf(alice, guest);
    assertEquals(
      [ofAlice?.through, ofAlice?.root],
      [bob.client.agentId, invite],
      "the door of the one that let it in",
    );
  }
  const [byBob, other] = [await rowOf(bob, carol), await rowOf(bob, dave)];
  assertEquals(
    [byBob?.root.startsWith("invite "), byBob?.root === other?.root],
    [true, true],
    "one link, one door",
  );
  assertEquals(
    [await rowOf(bob, alice), await rowOf(dave, carol)],
    [undefined, undefined],
    "they were here before",
  );
  const ofCarol = await rowOf(carol, dave);
  assertEquals([ofCarol?.through, ofCarol?.root], [bob.client.agentId, bob.client.agentId]);
  const before = (await alice.inside()).lineage.since;
  await alice.restart();
  assertEquals((await alice.inside()).lineage.since, before);
});

Deno.test("whom an owner adds without an invite is a door of its own", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const carol = await stage.actor("carol");
  const welcome = await (await alice.channel()).addMember(await carol.client.generateKeyPackage());
  await carol.client.joinChannel(name, welcome);
  await allAgree(alice, bob, carol);
  for (const actor of [alice, bob]) {
    const row = await rowOf(actor, carol);
    assertEquals([row?.through, row?.root], [alice.client.agentId, carol.client.agentId]);
  }
});

Deno.test("a founding strikes the door of the blamed, for all that follow it and after a restart", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await twoOfBobs(stage);
  const door = (await rowOf(alice, carol))?.root;
  await sendBogus(carol);
  await allStopped(alice, bob, dave);
  await recover(alice);
  await talk(alice, bob, dave);
  const ofBob = (await rowOf(bob, dave))?.root;
  for (const [actor, root] of [[alice, door], [bob, ofBob]] as const) {
    assertEquals([...(await actor.inside()).lineage.struck.keys()], [root]);
    assertEquals(await rowOf(actor, carol), undefined);
    await actor.restart();
    assertEquals([...(await actor.inside()).lineage.struck.keys()], [root]);
  }
});

Deno.test("a member that has an owner let in again does not wipe what the owner remembers of those that it let in", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await twoOfBobs(stage);
  const before = await rowOf(alice, dave);
  await sendGarbled(bob, [0]);
  await until("alice is let in", async () => (await issuesOf(alice, "rejoined")).length > 0);
  await allAgree(alice, carol, dave);
  for (const restart of [false, true]) {
    if (restart) await alice.restart();
    // For epochs all that were there when it came back were there before it.
    assertEquals(await rowOf(alice, dave), before && { ...before, epoch: 0 });
    assertEquals((await alice.inside()).joinedEpoch(dave.client.agentId), 0);
  }
});
