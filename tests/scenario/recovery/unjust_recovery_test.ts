/**
 * An owner begins the channel anew against a commit that others have followed: all of them are
 * told, with what they know.
 */
import { assert, assertEquals } from "@std/assert";
import type { NoticeBody } from "../../../proto/mod.ts";
import { foundingAgainst } from "../../support/scenario/bad_commits.ts";
import {
  allStopped,
  deafen,
  fourMembers,
  issuesOf,
  sendGarbled,
  talk,
} from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, read, Stage, until } from "../../support/scenario/stage.ts";

async function unjustText(actor: Actor): Promise<string> {
  await until(
    `${actor.label} is told`,
    async () => (await issuesOf(actor, "unjust_recovery")).length > 0,
  );
  const texts = await issuesOf(actor, "unjust_recovery");
  assertEquals(texts.length, 1, actor.label);
  return texts[0] ?? "";
}

Deno.test("an owner that begins anew against a good commit is named by all that followed it, and so is the one that it put out", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  let commit: NoticeBody<"DeliverCommit"> | undefined;
  alice.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverCommit") return [notice];
    commit ??= notice.body;
    return [];
  };
  await (await carol.channel()).rotate();
  await allAgree(bob, carol, dave);
  await until("alice's relay has the commit", () => commit !== undefined);
  const founding = commit && await foundingAgainst(await alice.inside(), commit);
  assert(founding);
  await alice.session.call("FoundGeneration", founding);
  for (const actor of [bob, dave]) {
    const text = await unjustText(actor);
    for (const said of [alice.client.agentId, carol.client.agentId, "kept the rules"]) {
      assert(text.includes(said), text);
    }
    assert(!text.includes("itself signed"), text);
    assertEquals((await issuesOf(actor, "recovered")).length, 1, "it is followed all the same");
  }
  await until("carol is out", async () => {
    return (await carol.channel()).health().problem?.includes("begun without this agent") === true;
  });
});

/** Bob's commit is spoiled for alice alone, and nobody lets alice in. */
async function aliceAlone(stage: Stage): Promise<[Actor, Actor, Actor, Actor]> {
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(bob, carol, dave);
  await sendGarbled(bob, [0]);
  await allStopped(alice);
  await allAgree(carol, dave);
  alice.clockOffsetMs += 61_000;
  return [alice, bob, carol, dave];
}

Deno.test("an owner for whom alone a commit was spoiled is not judged: both explanations are told", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await aliceAlone(stage);
  await (await alice.channel()).recover();
  for (const actor of [carol, dave]) {
    const text = await unjustText(actor);
    assert(
      text.includes(`Either ${bob.client.agentId} spoiled`) && !text.includes("could follow it"),
      text,
    );
  }
  assertEquals(await issuesOf(alice, "unjust_recovery"), []);
  await talk(alice, carol, dave);
});

Deno.test("a founding that was kept back until its founder was let in: it itself signed later epochs, and is not judged", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await aliceAlone(stage);
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  alice.session.tampering.call = async (operation, _body, forward) => {
    if (operation === "FoundGeneration") {
      isHeld = true;
      await held.promise;
    }
    return await forward();
  };
  const recovering = (await alice.channel()).recover();
  recovering.catch(() => {});
  await until("the founding is held", () => isHeld);
  for (const { session } of [bob, carol, dave]) session.tampering = {};
  alice.clockOffsetMs += 61_000;
  for (const actor of [carol]) await actor.restart();
  await until("alice is let in", async () => (await issuesOf(alice, "rejoined")).length > 0);
  await (await alice.channel()).send("let in");
  for (const actor of [carol, dave]) assertEquals(await read(await actor.channel(), 1), ["let in"]);
  held.resolve();
  for (const actor of [carol, dave]) {
    const text = await unjustText(actor);
    assert(
      text.includes(`${alice.client.agentId} itself signed since`) &&
        !text.includes("could follow it"),
      text,
    );
  }
  await allAgree(alice, carol, dave);
});
