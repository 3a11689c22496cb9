// Relays tell each other whether they have room, so that agents of a relay without it go to one
// that has some.
import { assertEquals } from "@std/assert";
import { eventually } from "../../tests/support/eventually.ts";
import { natsInstalled } from "../../tests/support/nats.ts";
import { testWhen } from "../../tests/support/requirement.ts";
import { Actor } from "../core/testing/actors.ts";
import { refused } from "../core/testing/scene.ts";
import { settle } from "../core/testing/simulated_time.ts";
import { type SmallDisk, withDisk } from "../core/testing/small_disk.ts";
import { createWorld, type World } from "../core/testing/world.ts";
import { freshPrefix, type OpenCluster, openTestCluster } from "./testing/open_test_cluster.ts";
import { sharedUrls } from "./testing/shared_nats.ts";

/** Longer than a measurement of a disk counts. */
const measuredMs = 300;

interface Relay extends AsyncDisposable {
  readonly world: World;
  readonly open: OpenCluster;
  setDisk(level: SmallDisk["level"]): Promise<void>;
}

async function openRelay(prefix: string, relay: string): Promise<Relay> {
  const open = await openTestCluster({ urls: sharedUrls, prefix, relay });
  const disk: SmallDisk = { level: "ok" };
  const world = await createWorld({ engine: withDisk(open.engine, disk), cluster: open.cluster });
  return {
    world,
    open,
    setDisk: async (level) => {
      disk.level = level;
      await world.time.advance(measuredMs);
    },
    [Symbol.asyncDispose]: async () => {
      await world.close();
      await open.engine.close();
    },
  };
}

/** Resolves when the relay knows it. */
async function knows({ open }: Relay, hasRoomElsewhere: boolean): Promise<void> {
  const ask = (): Promise<boolean> => Promise.resolve(open.cluster.hasRoomElsewhere());
  await eventually(
    { what: "relays hear of each other" },
    ask,
    (answer) => answer === hasRoomElsewhere,
  );
}

testWhen(
  natsInstalled,
  "an agent of a relay without room sends at one that has some; without any it waits",
  async () => {
    const prefix = freshPrefix();
    await using first = await openRelay(prefix, "relay-1");
    await knows(first, false);
    await using second = await openRelay(prefix, "relay-2");
    await knows(first, true);
    const alice = await Actor.connect(first.world, 1);
    const reader = await Actor.connect(first.world, 2);
    const channelId = await alice.createChannel();
    await first.setDisk("full");
    alice.send(channelId, 0, 1).catch(() => {});
    await settle();
    assertEquals([alice.client.ended?.code, reader.client.ended], ["relay_draining", undefined]);
    await alice.reconnect(second.world);
    assertEquals((await alice.send(channelId, 0, 1)).duplicate, false);
    await second.setDisk("tight");
    await knows(first, false);
    await second.setDisk("full");
    await knows(second, false);
    await refused("storage_full", alice.send(channelId, 0, 2));
    await first.setDisk("ok");
    await knows(second, true);
    alice.send(channelId, 0, 2).catch(() => {});
    await settle();
    assertEquals(alice.client.ended?.code, "relay_draining");
    await alice.reconnect(first.world);
    assertEquals((await alice.send(channelId, 0, 2)).duplicate, false);
  },
);
