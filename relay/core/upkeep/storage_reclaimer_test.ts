/** An account whose storage is used up: room is made, and no outsider can use it up for long. */
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import {
  binaryIdToBytes,
  type ChannelId,
  parseAccountId,
  parseChannelName,
} from "../../../proto/mod.ts";
import { createPrivateMessage } from "../../../tests/support/mod.ts";
import { Actor } from "../testing/actors.ts";
import { createAgent } from "../testing/client.ts";
import { createPair, createReadingPair, refused, worldTest } from "../testing/scene.ts";
import { createWorld, type World } from "../testing/world.ts";

/** Accounts of these tests have the plan dev: sixteen times the storage of a free one. */
const small = { storageBytesPerAccount: 10_000 };
const accountBytes = 160_000;

/** A commit that carries so much. */
function commitOf(
  channelId: ChannelId,
  epoch: number,
  bytes: number,
): { readonly commit: Uint8Array } {
  const groupId = binaryIdToBytes(channelId);
  return {
    commit: createPrivateMessage({
      groupId,
      epoch,
      contentType: 3,
      ciphertext: new Uint8Array(bytes),
    }),
  };
}

/** Sends until the account is full; returns the number of the message that was refused. */
async function fill(by: Actor, channelId: ChannelId, from = 1): Promise<number> {
  for (let number = from;; number++) {
    if (!await by.send(channelId, 1, number, 10_000).then(() => true, () => false)) return number;
  }
}

async function used(world: World, { accountId }: Actor): Promise<number> {
  return await world.engine.accountBytes(parseAccountId(accountId));
}

worldTest(
  "messages that nobody reads give way to a gap when their account is full, and sending goes on",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const refusedNumber = await fill(alice, channelId);
    assertGreater(refusedNumber, 10);
    const { body } = await refused("storage_full", alice.send(channelId, 1, refusedNumber, 10_000));
    assertEquals(body.retryAfterMs, 2_000);
    await world.time.advance(2_000);
    for (let number = refusedNumber; number < refusedNumber + 5; number++) {
      await alice.send(
        channelId,
        1,
        number,
        10_000,
      );
    }
    assertLess(await used(world, alice), accountBytes);
    await bob.subscribe(channelId);
    await world.time.advance(100);
    assertEquals(bob.client.pushed("DeliverGap").map(({ reason }) => reason), ["size"]);
  },
  { config: small },
);

worldTest("an account that is full makes no channel larger by losing messages", async (world) => {
  const { alice, channelId } = await createPair(world);
  await fill(alice, channelId);
  await world.time.advance(2_000);
  while (await used(world, alice) < accountBytes - 4_400) {
    await alice.send(channelId, 1, 1_000_000 + world.meter.messagesAccepted, 1_000);
  }
  const before = world.meter.messagesDropped;
  await refused("storage_full", alice.createChannel(9, parseChannelName("a/b/9")));
  await world.time.advance(2_000);
  assertEquals(world.meter.messagesDropped, before);
}, { config: small });

worldTest(
  "a closed channel makes room at once when its account is full, whoever has not read it",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    for (let number = 1; number <= 15; number++) await alice.send(channelId, 1, number, 10_000);
    await alice.client.call("CloseChannel", { channelId });
    await refused("storage_full", alice.createChannel(9, parseChannelName("a/b/9")));
    await world.time.advance(2_000);
    await alice.createChannel(9, parseChannelName("a/b/9"));
    assertLess(await used(world, alice), 10_000);
  },
  { config: small },
);

worldTest(
  "commits of another account fill no more than a part of the account that made the channel",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    let epoch = 1;
    while (
      await bob.commit(channelId, epoch, commitOf(channelId, epoch, 5_000)).then(
        () => true,
        () => false,
      )
    ) epoch++;
    assertLess(await used(world, alice), accountBytes / 4);
    await refused("queue_full", bob.commit(channelId, epoch, commitOf(channelId, epoch, 5_000)));
    await alice.commit(channelId, epoch, commitOf(channelId, epoch, 5_000));
    await alice.createChannel(9, parseChannelName("a/b/9"));
  },
  { config: small },
);

worldTest("a member that comes back is let in although the account is full", async (world) => {
  const { alice, bob, channelId } = await createReadingPair(world);
  const other = await alice.createChannel(2, parseChannelName("a/b/2"));
  await alice.commit(other, 0, { added: [createAgent(30).agentId] });
  let epoch = 1;
  while (
    await alice.commit(other, epoch, commitOf(other, epoch, 20_000)).then(() => true, () => false)
  ) epoch++;
  while (
    await alice.commit(other, epoch, commitOf(other, epoch, 100)).then(() => true, () => false)
  ) epoch++;
  await refused("storage_full", alice.commit(channelId, 1, { added: [createAgent(31).agentId] }));
  const { requestId } = await bob.client.call("RequestRejoin", bob.rejoin(channelId));
  const rejoined = { removed: [bob.agentId], added: [bob.agentId], answers: [requestId] };
  await alice.commit(channelId, 1, rejoined);
}, { config: small });

worldTest(
  "messages of another account take the place of messages of their own channel only",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const other = await alice.createChannel(2, parseChannelName("a/b/2"));
    await alice.commit(other, 0, { added: [createAgent(30).agentId] });
    for (let number = 1; number <= 8; number++) await alice.send(other, 1, number, 10_000);
    await fill(bob, channelId);
    for (let round = 0; round < 5; round++) {
      await world.time.advance(2_000);
      await fill(bob, channelId, 100 * (round + 1));
    }
    assertGreater(world.meter.messagesDropped, 5);
    assertEquals((await world.engine.queueSize(other)).messages, 8);
  },
  { config: small },
);

worldTest(
  "an account for which no room can be made is not searched again and again",
  async (world) => {
    let searches = 0;
    const engine = new Proxy(world.engine, {
      get: (real, property): unknown => {
        if (property === "largestChannel") searches++;
        const value: unknown = Reflect.get(real, property);
        return typeof value === "function" ? value.bind(real) : value;
      },
    });
    const watched = await createWorld({ engine, config: small });
    const { alice, channelId } = await createPair(watched);
    let epoch = 1;
    while (
      await alice.commit(channelId, epoch, commitOf(channelId, epoch, 9_000)).then(
        () => true,
        () => false,
      )
    ) epoch++;
    for (let i = 0; i < 50; i++) {
      await refused(
        "storage_full",
        alice.commit(channelId, epoch, commitOf(channelId, epoch, 9_000)),
      );
      await watched.time.advance(100);
    }
    assertLess(searches, 3);
    await watched.close();
  },
  { config: small },
);
