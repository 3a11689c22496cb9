/**
 * Stolen keys: a thief that copied an agent's directory and only reads loses the channel with the
 * victim's next commit.
 */
import { assert, assertEquals } from "@std/assert";
import type { ChannelId, NoticeEnvelope } from "../../../proto/mod.ts";
import { createNodeEd25519 } from "../../../sdk/platform/node_ed25519.ts";
import { createNodeX25519 } from "../../../sdk/platform/node_key_agreement.ts";
import {
  createSignatures,
  openMemory,
  RecordStore,
  type Signatures,
} from "../../../sdk/testing/agents.ts";
import { createRandom } from "../../support/mod.ts";
import { Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";
import { Thief } from "../../support/scenario/thief.ts";
import { SimulatedStage } from "../simulation/stage.ts";

const [minuteMs, hourMs] = [60_000, 3_600_000];

async function steal(victim: Actor, channelId: ChannelId): Promise<Thief> {
  const random = (length: number): Uint8Array<ArrayBuffer> =>
    crypto.getRandomValues(new Uint8Array(length));
  return await Thief.of(
    await RecordStore.open(openMemory(victim.copyDisk(), random)),
    victim.agent,
    channelId,
  );
}

/** The thief reads all that is delivered to the victim, and all commits of the victim. */
function tap(victim: Actor, thief: Thief): { readonly idle: () => Promise<void> } {
  let tail: Promise<void> = Promise.resolve();
  const hear = (bytes: Uint8Array): void => void (tail = tail.then(() => thief.read(bytes)));
  victim.session.tampering.notice = (notice: NoticeEnvelope) => {
    if (notice.operation === "DeliverMessage") hear(notice.body.ciphertext);
    if (notice.operation === "DeliverCommit") hear(notice.body.commit);
    return [notice];
  };
  victim.session.tampering.call = (operation, body, forward) => {
    // cast: of this operation
    if (operation === "SendCommit") hear((body as { commit: Uint8Array }).commit);
    return forward();
  };
  return { idle: () => tail };
}

Deno.test("a thief of the directory reads along until the victim rotates its keys, and not after", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  const thief = await steal(bob, channel.id);
  const wire = tap(bob, thief);
  await alice.manager.send(name, "before");
  assertEquals(await read(channel, 1), ["before"]);
  // Commits of others do not help: their paths reach the keys that were stolen.
  await (await alice.channel()).rotate();
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "between");
  assertEquals(await read(channel, 1), ["between"]);
  await wire.idle();
  assertEquals([thief.heard.length, thief.isOut], [2, false]);
  await channel.rotate();
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "after");
  assertEquals(await read(channel, 1), ["after"]);
  await wire.idle();
  assertEquals([thief.heard.length, thief.isOut], [2, true]);
  const keys = (await alice.channel()).health().keys;
  const changed = new Map(keys.map(({ agentId, changedAtMs }) => [agentId, changedAtMs]));
  assert((changed.get(bob.client.agentId) ?? 0) >= (changed.get(alice.client.agentId) ?? Infinity));
  assertEquals(changed.size, 3);
});

Deno.test("rotate() also replaces what the relay holds of the agent", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let uploads = 0;
  bob.session.tampering.call = (operation, body, forward) => {
    // cast: of this operation
    if (operation === "UploadKeyPackage" && (body as { replace: boolean }).replace) uploads++;
    return forward();
  };
  await (await bob.channel()).rotate();
  assertEquals(uploads, 1);
  await allAgree(alice, bob);
});

async function simulated(
  act: (stage: SimulatedStage, actors: readonly Actor[]) => Promise<void>,
): Promise<void> {
  const signatures: Signatures = await createSignatures({
    ed25519: createNodeEd25519(),
    x25519: createNodeX25519(),
  });
  const stage = await SimulatedStage.open(createRandom(5), signatures);
  const actors = ["alice", "bob", "carol"].map((label) => new Actor(stage, label, 1));
  for (const actor of actors) await stage.finish("it is up", actor.start());
  const [alice, ...guests] = actors;
  assert(alice);
  await stage.finish("the channel is there", alice.manager.create(name));
  for (const guest of guests) {
    const token = await stage.finish("an invite", alice.manager.invite(name));
    await stage.finish("it has joined", guest.manager.joinWithToken(name, token));
  }
  try {
    await act(stage, actors);
  } finally {
    for (const actor of actors) await stage.finish("it has stopped", actor.stop());
    await stage.close();
  }
}

async function leafOf(actor: Actor): Promise<string> {
  const { tree, ownLeaf } = (await actor.inside()).group.current;
  return (tree.leaf(ownLeaf)?.encoded ?? []).toString();
}

async function pass(stage: SimulatedStage, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10 * minuteMs) {
    await stage.world.time.advance(10 * minuteMs);
  }
}

Deno.test("members that stay online change their keys within a day, each by itself, and a thief is out by then", async () => {
  await simulated(async (stage, actors) => {
    const bob = actors[1];
    assert(bob);
    await pass(stage, 2 * hourMs);
    const { channelId } = await bob.inside();
    const thief = await steal(bob, channelId);
    const wire = tap(bob, thief);
    const before = await Promise.all(actors.map(leafOf));
    const { epoch } = await bob.inside();
    await pass(stage, 12 * hourMs);
    // Tokens of these sessions are good for a day.
    for (const { session } of actors) {
      session.disconnect();
      await stage.finish("it is back", session.connect());
    }
    await pass(stage, 12 * hourMs);
    await stage.finish("the thief has read", wire.idle());
    const after = await Promise.all(actors.map(leafOf));
    for (const [i, leaf] of after.entries()) {
      assert(leaf !== before[i], `${actors[i]?.label} has its old keys`);
    }
    assertEquals(thief.isOut, true);
    const commits = (await bob.inside()).epoch - epoch;
    assert(commits >= 3 && commits <= 6, `${commits} commits a day`);
    for (const actor of actors) assertEquals((await actor.channel()).health().state, "ok");
  });
});

Deno.test("after a restart that follows a long pause keys are changed at once, after a short one they rest", async () => {
  await simulated(async (stage, actors) => {
    const [, bob, carol] = actors;
    assert(bob && carol);
    await pass(stage, 10 * minuteMs);
    const young = await leafOf(carol);
    await stage.finish("carol has stopped", carol.stop());
    await stage.finish("carol is up", carol.start());
    await stage.finish("bob has stopped", bob.stop());
    const old = await leafOf(carol);
    assertEquals(old, young);
    await pass(stage, 10 * minuteMs);
    assertEquals(await leafOf(carol), young, "an hour has not passed");
    await pass(stage, 3 * hourMs);
    await stage.finish("bob is up", bob.start());
    const leaf = await leafOf(bob);
    await pass(stage, 10 * minuteMs);
    assert(await leafOf(bob) !== leaf, "bob has its old keys");
    assert(await leafOf(carol) !== young, "carol has its old keys");
  });
});

Deno.test("a short run changes keys that are old before it ends", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const leaf = await leafOf(bob);
  await bob.stop();
  bob.clockOffsetMs += 2 * hourMs;
  await bob.start();
  await bob.manager.send(name, "a word");
  await bob.stop();
  await bob.start();
  assert(await leafOf(bob) !== leaf);
  await until(
    "alice follows",
    async () => (await alice.inside()).epoch === (await bob.inside()).epoch,
  );
  assertEquals(await read(await alice.channel(), 1), ["a word"]);
});
