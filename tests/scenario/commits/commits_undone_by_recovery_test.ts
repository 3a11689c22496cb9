/**
 * A commit that some members can follow and the owner cannot: what they do in the meantime is
 * undone when the owner begins the channel anew, also where the relay remembers it.
 */
import { assert, assertEquals } from "@std/assert";
import {
  fourMembers,
  issuesOf,
  membersOf,
  sendGarbled,
  stateOf,
  talk,
} from "../../support/scenario/recovery.ts";
import { type Actor, Stage, until } from "../../support/scenario/stage.ts";

interface Divided {
  readonly alice: Actor;
  readonly carol: Actor;
  readonly dave: Actor;
  /** Alice may begin anew: a minute has passed. */
  readonly recover: () => Promise<void>;
}

/**
 * Bob's commit stops alice, the owner, and nobody else. Of those that are `deaf` nobody is told
 * that she asks to come back.
 */
async function divide(stage: Stage, { deaf }: { readonly deaf: boolean }): Promise<Divided> {
  const [alice, bob, carol, dave] = await fourMembers(stage);
  for (const { session } of deaf ? [carol, dave] : []) {
    session.tampering.notice = (notice) =>
      notice.operation === "DeliverRejoinRequest" ? [] : [notice];
  }
  // Her Welcome is lost on its way to her.
  alice.session.tampering.notice = (notice) =>
    notice.operation === "DeliverWelcome" ? [] : [notice];
  const { epoch } = await alice.inside();
  await sendGarbled(bob, [0]);
  bob.session.disconnect();
  await until("alice is stopped", async () => await stateOf(alice) === "stopped");
  for (const actor of [carol, dave]) {
    const [{ label }, inside] = [actor, await actor.inside()];
    await until(`${label} has followed`, () => inside.epoch > epoch);
  }
  const recover = async (): Promise<void> => {
    alice.session.tampering = {};
    alice.clockOffsetMs += 61_000;
    await (await alice.channel()).recover();
  };
  return { alice, carol, dave, recover };
}

async function isListed(by: Actor, { client: { agentId } }: Actor): Promise<boolean> {
  return (await by.channel()).members().some((member) => member.agentId === agentId);
}

Deno.test("a member that left, and that those who could follow have removed, keeps nobody out of the new generation", async () => {
  await using stage = await Stage.open();
  const { alice, carol, dave, recover } = await divide(stage, { deaf: true });
  await (await carol.channel()).leave();
  await until("dave has removed carol", async () => !await isListed(dave, carol));
  await recover();
  await talk(alice, dave);
  await until("alice has struck carol", async () => !await isListed(alice, carol));
  assertEquals(await issuesOf(alice, "duty_failed"), []);
});

Deno.test("a member that moved on and left cannot prove it: the owner is told, and removes it", async () => {
  await using stage = await Stage.open();
  const { alice, carol, dave, recover } = await divide(stage, { deaf: true });
  // It has another leaf from here on, which alice does not know.
  await (await carol.inside()).commit();
  await (await carol.channel()).leave();
  await until("dave has removed carol", async () => !await isListed(dave, carol));
  const { client: { agentId } } = carol;
  await until(
    "alice is told",
    async () => (await issuesOf(alice, "void_leave")).some((text) => text.includes(agentId)),
  );
  await recover();
  await talk(alice, dave);
  assert(await isListed(alice, carol));
  await (await alice.channel()).removeMember(agentId);
  await until("dave knows", async () => !await isListed(dave, carol));
  assertEquals(await membersOf(dave), ["alice", "dave"]);
});

Deno.test("an owner that was brought in anew, and never heard of it, stays in the generation that it begins", async () => {
  await using stage = await Stage.open();
  const { alice, carol, dave, recover } = await divide(stage, { deaf: false });
  const { group: { epoch } } = await alice.inside();
  const inside = await dave.inside();
  await until("alice was let in", () => inside.joinedEpoch(alice.client.agentId) > epoch);
  await recover();
  await talk(alice, carol, dave);
  alice.session.disconnect();
  await alice.session.connect();
  await talk(alice, carol, dave);
  for (const kind of ["rejoined", "store_unproven"]) assertEquals(await issuesOf(alice, kind), []);
});

Deno.test("a member that has left is not missed in the group that lets an owner in again", async () => {
  await using stage = await Stage.open();
  const { alice, carol, dave } = await divide(stage, { deaf: true });
  await (await carol.channel()).leave();
  await until("dave has removed carol", async () => !await isListed(dave, carol));
  const inside = await alice.inside();
  await until("alice knows that carol has left", () => inside.leavers.length === 1);
  for (const { session } of [alice, dave]) {
    session.tampering = {};
    session.disconnect();
    await session.connect();
  }
  await talk(alice, dave);
  for (const kind of ["recovered", "refused_welcome"]) {
    assertEquals(await issuesOf(alice, kind), []);
  }
});
