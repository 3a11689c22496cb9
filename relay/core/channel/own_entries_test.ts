/**
 * The relay's records of each member with which an agent can detect that its memory is an older
 * one.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { assertEquals } from "@std/assert";
import { binaryIdToBytes, encodeMessageAad } from "../../../proto/mod.ts";
import { createPrivateMessage } from "../../../tests/support/mod.ts";
import { ChannelState } from "./channel_state.ts";
import { defaultCoreConfig } from "../config.ts";
import { Actor, messageRequest } from "../testing/actors.ts";
import { createPair, createReadingPair, refused, worldTest } from "../testing/scene.ts";
import { createWorld, type World } from "../testing/world.ts";

const careMs = 2_000;

async function send(
  actor: Actor,
  channelId: Parameters<Actor["send"]>[0],
  number: number,
  counter: number,
  { epoch = 1, keyNumber = 0 }: { readonly epoch?: number; readonly keyNumber?: number } = {},
): ReturnType<Actor["send"]> {
  const request = messageRequest(channelId, epoch, number);
  const ciphertext = createPrivateMessage({
    groupId: binaryIdToBytes(channelId),
    epoch,
    contentType: 1,
    authenticatedData: encodeMessageAad({ messageId: request.messageId, counter, keyNumber }),
    ciphertext: new Uint8Array(40).fill(number),
  });
  return await actor.client.call("SendMessage", { ...request, ciphertext });
}

async function stored(world: World, channelId: Parameters<Actor["send"]>[0]): Promise<number> {
  return (await world.engine.read(channelId, { after: 0, maxBytes: 1 << 20 })).length;
}

worldTest(
  "Subscribe tells the newest entry of the agent and the highest of its counters",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    assertEquals((await bob.subscribe(channelId)).sent, undefined);
    await send(bob, channelId, 1, 7);
    const { sequence } = await send(bob, channelId, 2, 5);
    await alice.send(channelId, 1, 3);
    const reply = await bob.subscribe(channelId);
    assertEquals(reply.sent, { sequence, epoch: 1, counter: 7 });
    assertEquals([reply.joinedSequence, reply.acknowledged], [1, 1]);
    const committed = await bob.commit(channelId, 1);
    const { sent } = await bob.subscribe(channelId);
    assertEquals(sent, {
      sequence: committed.sequence,
      epoch: 1,
      counter: 7,
      commitHash: committed.commitHash,
    });
  },
);

worldTest(
  "of the keys it tells the highest that sealed a message of the newest entry's epoch",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const keyNumber = async (): Promise<number | undefined> =>
      (await bob.subscribe(channelId)).sent?.keyNumber;
    await send(bob, channelId, 1, 1, { keyNumber: 65 });
    await send(bob, channelId, 2, 2, { keyNumber: 3 });
    assertEquals(await keyNumber(), 65);
    await bob.commit(channelId, 1);
    assertEquals(await keyNumber(), 65, "a commit is sealed with a key of another kind");
    await send(bob, channelId, 3, 3, { epoch: 2, keyNumber: 1 });
    assertEquals(await keyNumber(), 1);
    await alice.commit(channelId, 2);
    await bob.commit(channelId, 3);
    assertEquals(await keyNumber(), undefined);
  },
);

worldTest(
  "what an agent sent is known after it was trimmed and the relay restarted",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const { sequence } = await send(bob, channelId, 1, 4);
    await alice.acknowledge(channelId, sequence);
    await world.time.advance(careMs);
    assertEquals(await stored(world, channelId), 0);
    await world.core.close();
    const next = await createWorld({ engine: world.engine });
    await bob.reconnect(next);
    const { sent } = await bob.subscribe(channelId);
    assertEquals(sent, { sequence, epoch: 1, counter: 4 });
    assertEquals(await bob.client.call("ReadOwn", { channelId, sequence }), {});
  },
);

const short = { limits: { ...defaultCoreConfig.limits, queueAgeMs: 1_000 } };

worldTest(
  "what an agent sent is known after it gave way to a gap and the relay restarted",
  async (world) => {
    const { bob, channelId } = await createPair(world);
    const { sequence } = await send(bob, channelId, 1, 4);
    await world.time.advance(120_000);
    assertEquals((await world.engine.queueSize(channelId)).messages, 0);
    await world.core.close();
    const next = await createWorld({ engine: world.engine, config: short });
    await bob.reconnect(next);
    assertEquals((await bob.subscribe(channelId)).sent, { sequence, epoch: 1, counter: 4 });
  },
  { config: short },
);

worldTest(
  "acknowledged is what the agent itself said, not where the relay has moved its cursor",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    for (let number = 1; number <= 3; number++) await send(bob, channelId, number, number);
    await world.time.advance(careMs);
    const moved = await bob.subscribe(channelId);
    assertEquals([moved.consumed, moved.acknowledged], [4, 1], "it passes over what is its own");
    const { sequence } = await alice.send(channelId, 1, 9);
    await bob.acknowledge(channelId, sequence);
    await world.core.close();
    const next = await createWorld({ engine: world.engine });
    await bob.reconnect(next);
    assertEquals((await bob.subscribe(channelId)).acknowledged, sequence);
  },
);

worldTest("a new membership begins with nothing sent and nothing acknowledged", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  const { sequence } = await send(bob, channelId, 1, 4);
  await bob.acknowledge(channelId, sequence);
  const again = await alice.commit(channelId, 1, { removed: [bob.agentId], added: [bob.agentId] });
  await bob.acknowledge(channelId, sequence);
  const reply = await bob.subscribe(channelId);
  assertEquals([reply.joinedSequence, reply.sent], [again.sequence, undefined]);
  assertEquals(reply.acknowledged < reply.joinedSequence, true);
});

worldTest(
  "ReadOwn answers the agent's own messages and commits as they were sent, and nothing else",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const request = messageRequest(channelId, 1, 1);
    const { sequence } = await bob.client.call("SendMessage", request);
    const { epoch, messageId, ciphertext } = request;
    const own = await bob.client.call("ReadOwn", { channelId, sequence });
    assertEquals(own, { message: { epoch, messageId, ciphertext } });
    assertEquals(await alice.client.call("ReadOwn", { channelId, sequence }), {});
    const committed = await bob.commit(channelId, 1);
    const { commit } = await bob.client.call("ReadOwn", {
      channelId,
      sequence: committed.sequence,
    });
    assertEquals(commit && sha256(commit.commit), committed.commitHash);
    assertEquals(commit?.signature.length, 64);
    assertEquals(await bob.client.call("ReadOwn", { channelId, sequence: 99 }), {});
    const eve = await Actor.connect(world, 3);
    await refused("not_found", eve.client.call("ReadOwn", { channelId, sequence }));
  },
);

worldTest("a snapshot keeps what was sent", async (world) => {
  const { bob, channelId } = await createPair(world);
  await send(bob, channelId, 1, 4, { keyNumber: 2 });
  await bob.commit(channelId, 1);
  const state = new ChannelState();
  state.members.set(bob.agentId, { joinedSequence: 1, sinceSequence: 1 });
  for (const item of await world.engine.read(channelId, { after: 1, maxBytes: 1 << 20 })) {
    if (item.kind !== "gap") state.apply(item);
  }
  const { sent } = ChannelState.decode(state.encode()).members.get(bob.agentId) ?? {};
  assertEquals([sent?.counter, sent?.commitHash?.length, sent?.keyNumber], [4, 32, 2]);
  assertEquals(sent, state.members.get(bob.agentId)?.sent);
});

worldTest("ReadOwn of an entry that no log has returns nothing", async (world) => {
  const { alice, channelId } = await createReadingPair(world);
  for (const sequence of [0, 10_000]) {
    assertEquals(await alice.client.call("ReadOwn", { channelId, sequence }), {});
  }
});
