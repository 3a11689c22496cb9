/**
 * Channels that require post-quantum keys, and those that prefer them, as their users meet them. A
 * program of today is a KeyPackage or leaf without the capability.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { leafExtensions } from "../../../proto/mod.ts";
import { type Channel, type ChannelEvent, StaticError } from "../../../sdk/mod.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import { addOlderMember, createOlderMessage } from "../../support/scenario/older_member.ts";
import { allStopped, recover, talk } from "../../support/scenario/recovery.ts";
import { withBackup } from "../../support/scenario/set_back.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

const sealingExtension = 0xf5cb;
const older = leafExtensions.filter((type) => type !== sealingExtension);

function lossesIn(channel: Channel): ChannelEvent[] {
  const losses: ChannelEvent[] = [];
  void (async () => {
    for await (const event of channel.events()) {
      if (event.type === "post_quantum_lost") losses.push(event);
    }
  })();
  return losses;
}

async function stateOf(actor: Actor): Promise<string> {
  return (await actor.channel()).health().postQuantum.state;
}

Deno.test("a new channel is sealed for all, also after a restart, and requires keys of everybody", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  for (const actor of [alice, bob]) {
    assertEquals((await actor.channel()).health().postQuantum, {
      state: "all",
      since: 0,
      required: true,
    });
  }
  const old = await stage.actor("old");
  const message = createOlderMessage(old, stage, older);
  const error = await assertRejects(
    async () => await (await alice.channel()).addMember(message),
    StaticError,
  );
  assertEquals([error.code, error.members], ["members_must_update", [old.client.agentId]]);
  await bob.restart();
  assertEquals(await stateOf(bob), "all");
  await alice.manager.send(name, "still here");
  assertEquals(await read(await bob.channel(), 1), ["still here"]);
});

Deno.test("a channel that prefers keys lets in who has none, tells everybody, and remembers it", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice, bob, carol } = await stage.trio();
  const losses = lossesIn(await bob.channel());
  const before = { state: "all", since: 0, required: false } as const;
  assertEquals((await bob.channel()).health().postQuantum, before);
  const old = await stage.actor("old");
  await addOlderMember(alice, old, stage, older);
  await allAgree(alice, bob, carol);
  await until("bob is told", () => losses.length > 0);
  const [by, because] = [alice.client.agentId, old.client.agentId];
  const [loss] = losses;
  assert(loss?.type === "post_quantum_lost");
  assertEquals([loss.by, loss.because, losses.length], [by, because, 1]);
  await bob.restart();
  const { postQuantum } = (await bob.channel()).health();
  assert(postQuantum.state === "partly");
  assertEquals([postQuantum.by, postQuantum.because], [by, because]);
  assertEquals(
    (await bob.channel()).members().flatMap(({ agentId, postQuantum }) =>
      postQuantum ? [] : [agentId]
    ),
    [because],
  );
  const { epoch } = (await bob.channel()).health();
  assertEquals([postQuantum.since, postQuantum.until], [0, epoch]);
  // One that comes later has not seen it; and both sides talk.
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await bob.manager.invite(name));
  assertEquals(await stateOf(dave), "none");
  await allAgree(alice, bob, carol, dave);
  await talk(alice, bob, carol, dave);
});

for (const postQuantum of ["require", "prefer"] as const) {
  Deno.test(`a channel that began anew is sealed as before: ${postQuantum}`, async () => {
    await using stage = await Stage.open();
    stage.postQuantum = postQuantum;
    const { alice, bob, carol } = await stage.trio();
    await sendBogus(bob);
    await allStopped(alice, carol);
    await recover(alice);
    await talk(alice, carol);
    for (const actor of [alice, carol]) {
      const required = postQuantum === "require";
      const all = { state: "all", since: 0, required } as const;
      assertEquals((await actor.channel()).health().postQuantum, all);
    }
  });
}

/** An agent without a key was in the channel, and an owner has begun it anew without it. */
async function reopened(
  { alice, bob, carol }: Record<"alice" | "bob" | "carol", Actor>,
  stage: Stage,
): Promise<void> {
  const old = await stage.actor("old");
  await addOlderMember(alice, old, stage, older);
  await (await alice.channel()).removeMember(old.client.agentId);
  await allAgree(alice, bob, carol);
  assertEquals(await stateOf(carol), "partly");
  await sendBogus(bob);
  await allStopped(alice, carol);
  await recover(alice);
  await talk(alice, carol);
}

Deno.test("a channel that was open is sealed from its founding on, once all have keys, and says so when it is lost again", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const trio = await stage.trio();
  const { alice, carol } = trio;
  await reopened(trio, stage);
  const since = 2 ** 32 + 1;
  for (const actor of [alice, carol]) {
    const { postQuantum } = (await actor.channel()).health();
    assertEquals(postQuantum, { state: "all", since, required: false });
  }
  await addOlderMember(alice, await stage.actor("older"), stage, older);
  await allAgree(alice, carol);
  const { postQuantum, issues } = (await carol.channel()).health();
  assert(postQuantum.state === "partly");
  assertEquals([postQuantum.since, postQuantum.until], [since, since + 1]);
  assert(issues.some(({ kind }) => kind === "post_quantum_lost"));
});

Deno.test("a member that was away while a sealing was lost and regained is told of the loss", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const trio = await stage.trio();
  const { carol } = trio;
  const before = await carol.backup();
  await reopened(trio, stage);
  await carol.restore(before);
  assertEquals(await stateOf(carol), "all");
  const losses = lossesIn(await carol.channel());
  await until("carol is back", async () => (await carol.channel()).health().epoch > 2 ** 32);
  await until("carol is told", () => losses.length > 0);
  const { postQuantum } = (await carol.channel()).health();
  assertEquals(postQuantum, { state: "all", since: 2 ** 32 + 1, required: false });
});

Deno.test("a relay that is set back to before a loss makes nobody forget it", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    stage.postQuantum = "prefer";
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    await bob.stop();
    await addOlderMember(alice, await stage.actor("old"), stage, older);
    await allAgree(alice, carol);
    const { postQuantum: known } = (await carol.channel()).health();
    assert(known.state === "partly");
    for (const actor of [alice, carol]) await actor.stop();
    await restore();
    await bob.start();
    const inside = await bob.inside();
    await inside.commit();
    await inside.commit();
    for (const actor of [alice, carol]) await actor.start();
    for (const actor of [alice, carol]) {
      await until("it is back", async () => {
        const { state, issues } = (await actor.channel()).health();
        return state === "ok" && issues.some(({ kind }) => kind === "rejoined");
      });
    }
    // The group is one that says that it is sealed from its beginning on.
    assertEquals((await bob.channel()).health().postQuantum.state, "all");
    assertEquals((await carol.channel()).health().postQuantum, known);
    await carol.restart();
    assertEquals((await carol.channel()).health().postQuantum, known);
  });
});

Deno.test("a member that comes back to a channel which was opened meanwhile is told", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice, bob, carol } = await stage.trio();
  const before = await carol.backup();
  await addOlderMember(alice, await stage.actor("old"), stage, older);
  await allAgree(alice, bob, carol);
  await carol.restore(before);
  await until("carol is back", async () => (await carol.channel()).health().state === "ok");
  await until("carol knows", async () => await stateOf(carol) === "partly");
});

Deno.test("a choice that is none is refused before anything is sent", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  const wrong = "always" as unknown as "prefer"; // cast: as a program without types has it
  const error = await assertRejects(
    () => alice.manager.create(name, { postQuantum: wrong }),
    StaticError,
  );
  assertEquals(error.code, "invalid_request");
});
