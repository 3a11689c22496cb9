/** A relay whose disk has no room, beside others that share its log and may have some. */
import { assertEquals } from "@std/assert";
import { openSqliteEngine } from "../../engine/mod.ts";
import { inCampaign, tried } from "../../../tests/support/campaign.ts";
import type { Cluster, ClusterListener } from "../cluster.ts";
import type { CoreConfig } from "../config.ts";
import { Actor } from "../testing/actors.ts";
import { CallRefused, createAgent } from "../testing/client.ts";
import { quietCluster } from "../testing/quiet_cluster.ts";
import { createReadingPair } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { type SmallDisk, withDisk } from "../testing/small_disk.ts";
import { createWorld, type World } from "../testing/world.ts";

/** Longer than a measurement of the disk counts. */
const measuredMs = 300;

interface Surroundings extends SmallDisk {
  othersHaveRoom: boolean;
  listener: ClusterListener | undefined;
}

async function among(
  run: (world: World, around: Surroundings) => Promise<void>,
  config: Partial<CoreConfig> = {},
): Promise<void> {
  const around: Surroundings = { level: "ok", othersHaveRoom: true, listener: undefined };
  const engine = withDisk(await openSqliteEngine({ path: ":memory:" }), around);
  const cluster: Cluster = quietCluster({
    hasRoomElsewhere: () => around.othersHaveRoom,
    listen: (listener) => void (around.listener = listener),
  });
  const world = await createWorld({ engine, cluster, config });
  try {
    await run(world, around);
    assertEquals(world.events.filter(({ event }) => event === "fault"), []);
  } finally {
    await world.close();
    await engine.close();
  }
}

/**
 * Returns the end of an agent's call: accepted, refused with a code, or never answered because the
 * session ends with a code.
 */
async function fateOf({ client }: Actor, sending: Promise<unknown>): Promise<string> {
  const answer = sending.then(
    () => "accepted",
    (error: unknown) =>
      error instanceof CallRefused ? `refused: ${error.body.code}` : String(error),
  );
  await settle();
  return client.ended === undefined ? await answer : `ended: ${client.ended?.code}`;
}

const events = ["disk full", "disk free", "others full", "others free", "send"] as const;
type Event = typeof events[number];

const depth = inCampaign ? 4 : 3;

/** Every sequence of so many events. */
function* sequences(length: number): Generator<readonly Event[]> {
  if (length === 0) return yield [];
  for (const rest of sequences(length - 1)) for (const event of events) yield [...rest, event];
}

Deno.test("an agent leaves for another relay only when it is refused for room that the other has, in every order", async () => {
  await among(async (world, around) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    let number = 0;
    let left = 0;
    for (const sequence of sequences(depth)) {
      Object.assign(around, { level: "ok", othersHaveRoom: true });
      await world.time.advance(measuredMs);
      for (const event of [...sequence, "send"] as const) {
        if (event === "disk full") around.level = "full";
        if (event === "disk free") around.level = "ok";
        if (event === "others full") around.othersHaveRoom = false;
        if (event === "others free") around.othersHaveRoom = true;
        if (event !== "send") {
          await world.time.advance(measuredMs);
          continue;
        }
        const fate = await fateOf(alice, alice.send(channelId, 1, ++number));
        const isFull = around.level === "full";
        const expected = !isFull
          ? "accepted"
          : around.othersHaveRoom
          ? "ended: relay_draining"
          : "refused: storage_full";
        assertEquals([sequence, fate], [sequence, expected]);
        if (alice.client.ended === undefined) continue;
        // Into another hour: how often an agent may be sent away is for another test.
        await world.time.leap(60 * 60_000);
        await alice.reconnect(world);
        await alice.subscribe(channelId);
        left++;
      }
    }
    tried(`${events.length ** depth} orders of events, in which ${left} sessions went elsewhere`);
    assertEquals([left > 0, bob.client.ended], [true, undefined]);
  });
});

Deno.test("an agent that finds no other relay is told to wait after a few times, and goes on reading", async () => {
  await among(async (world, around) => {
    const { alice, bob, channelId } = await createReadingPair(world);
    around.level = "full";
    await world.time.advance(measuredMs);
    const fates: string[] = [];
    for (let number = 1; number <= 8; number++) {
      fates.push(await fateOf(alice, alice.send(channelId, 1, number)));
      if (alice.client.ended !== undefined) await alice.reconnect(world);
    }
    const [sentAway, toldToWait] = ["ended: relay_draining", "refused: storage_full"];
    assertEquals(fates, [...Array(6).fill(sentAway), toldToWait, toldToWait]);
    assertEquals([alice.client.ended, bob.client.ended], [undefined, undefined]);
    assertEquals(world.meter.storageRefusals, 8);
  });
});

Deno.test("a relay says that it has room while it takes agents and its disk has some", async () => {
  await among(async (world, around) => {
    const hasRoom = async (): Promise<boolean | undefined> => {
      await world.time.advance(measuredMs);
      return around.listener?.load().hasRoom;
    };
    assertEquals(await hasRoom(), true);
    around.level = "full";
    assertEquals(await hasRoom(), false);
    around.level = "tight";
    assertEquals([await hasRoom(), world.core.stats().storage.level], [false, "tight"]);
    around.level = "ok";
    assertEquals(await hasRoom(), true);
    world.load.lagMs = 1_000;
    assertEquals(await hasRoom(), false);
    world.load.lagMs = 0;
    await world.core.drain();
    assertEquals(await hasRoom(), false);
  });
});

Deno.test("an account that has used up its own share is told so, and stays: other relays count the same", async () => {
  await among(async (world) => {
    const hoarder = await Actor.connect(world, 5);
    const reader = await Actor.connect(world, 6);
    const channelId = await hoarder.createChannel(5);
    await hoarder.commit(channelId, 0, { added: [reader.agentId] });
    const added = Array.from({ length: 50 }, (_, number) => createAgent(20 + number).agentId);
    assertEquals(
      await fateOf(hoarder, hoarder.commit(channelId, 1, { added })),
      "refused: storage_full",
    );
  }, { storageBytesPerAccount: 600 });
});
