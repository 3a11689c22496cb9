/**
 * Members' words about an epoch: taken from members alone, told to all of them in room that is
 * there anyway, never answered.
 */
import { assert, assertEquals } from "@std/assert";
import type { ChannelId, NoticeBody } from "../../../proto/mod.ts";
import { Actor } from "../testing/actors.ts";
import { createReadingPair, refused, worldTest } from "../testing/scene.ts";

const openMs = 1_000;

const confirmation = (channelId: ChannelId, epoch = 1, byte = 1) => ({
  channelId,
  epoch,
  state: new Uint8Array(32).fill(byte),
  signature: new Uint8Array(64).fill(2),
});

/** Confirmations that an agent received in the padding of cells. */
function pagesOf({ client }: Actor): NoticeBody<"DeliverConfirmations">[] {
  return client.ride().flatMap((notice) =>
    notice.operation === "DeliverConfirmations" ? [notice.body] : []
  );
}

worldTest("a member's word rides to every reader, and to one that comes later", async (world) => {
  const { alice, bob, channelId } = await createReadingPair(world);
  bob.client.notify("Confirm", confirmation(channelId));
  await world.time.advance(openMs);
  const { channelId: _, signature, ...said } = confirmation(channelId);
  const page = { channelId, ...said, confirmations: [{ agentId: bob.agentId, signature }] };
  assertEquals(pagesOf(alice), [page]);
  assertEquals(pagesOf(alice), []);
  await alice.reconnect();
  await alice.subscribe(channelId);
  assertEquals(pagesOf(alice), [page]);
  assertEquals(
    alice.client.pushed("DeliverConfirmations"),
    [],
    "it never makes an envelope of its own",
  );
});

worldTest(
  "a word that is refused is not answered when it rides, and answered when it was asked for",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    const eve = await Actor.connect(world, 9);
    for (const { client } of [bob, eve]) client.notify("Confirm", confirmation(channelId, 2));
    await world.time.advance(openMs);
    assertEquals([...bob.client.failures, ...eve.client.failures, ...pagesOf(alice)], []);
    const error = await refused(
      "epoch_conflict",
      bob.client.call("Confirm", confirmation(channelId, 2)),
    );
    assertEquals(error.body.epoch, 1);
    await refused("not_found", eve.client.call("Confirm", confirmation(channelId)));
  },
);

worldTest(
  "a reader that is removed hears nothing more, and its word is not taken",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    await alice.commit(channelId, 1, { removed: [bob.agentId] });
    alice.client.notify("Confirm", confirmation(channelId, 2));
    bob.client.notify("Confirm", confirmation(channelId, 2, 7));
    await world.time.advance(openMs);
    assertEquals(pagesOf(bob), []);
    assertEquals(
      pagesOf(alice).flatMap(({ confirmations }) => confirmations.map(({ agentId }) => agentId)),
      [
        alice.agentId,
      ],
    );
  },
);

worldTest("a session with many channels hears of all of them, in turns", async (world) => {
  const { alice, bob, channelId } = await createReadingPair(world);
  const channels = [channelId];
  for (
    const name of [
      "acme/ops/a",
      "acme/ops/b",
      "acme/ops/c",
      "acme/ops/d",
      "acme/ops/e",
      "acme/ops/f",
    ]
  ) {
    const { channelId } = await alice.client.call("CreateChannel", {
      name: name as never,
      nonce: nonceOf(name),
    }); // cast: valid
    await alice.commit(channelId, 0, { added: [bob.agentId] });
    await alice.subscribe(channelId);
    await bob.acknowledge(channelId, 1);
    channels.push(channelId);
  }
  for (const channelId of channels) bob.client.notify("Confirm", confirmation(channelId));
  await world.time.advance(openMs);
  const heard = new Set<ChannelId>();
  for (let cell = 0; cell < 3; cell++) {
    for (const { channelId } of pagesOf(alice)) heard.add(channelId);
  }
  assertEquals(heard.size, channels.length);
});

worldTest(
  "a typed session can confirm and is called neither late nor told anything",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    await bob.reconnect(world, "typed");
    await bob.subscribe(channelId);
    alice.client.notify("Confirm", confirmation(channelId));
    for (let minute = 0; minute < 12; minute++) {
      await world.time.advance(60_000);
      assert(alice.client.ride().every(({ operation }) => operation !== "DeliverUnconfirmed"));
    }
    await bob.client.call("Confirm", confirmation(channelId));
    await world.time.advance(openMs);
    assertEquals(pagesOf(alice).length, 1);
  },
);

worldTest(
  "members that are connected and have not confirmed are named to the others",
  async (world) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    alice.client.notify("Confirm", confirmation(channelId));
    const named: unknown[] = [];
    for (let minute = 0; minute < 5; minute++) {
      await world.time.advance(60_000);
      for (const notice of alice.client.ride()) {
        if (notice.operation === "DeliverUnconfirmed") {
          named.push(notice.body);
        }
      }
    }
    assertEquals(named, [{ channelId, epoch: 1, agentIds: [bob.agentId] }]);
  },
);

function nonceOf(name: string): Uint8Array {
  return new TextEncoder().encode(name.padEnd(16)).slice(0, 16);
}
