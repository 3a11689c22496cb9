// A relay that gets no answer from the shared log refuses new sessions and sends its agents to
// other relays.
import { assertEquals } from "@std/assert";
import { eventually } from "../../tests/support/eventually.ts";
import { natsInstalled, startNats } from "../../tests/support/nats.ts";
import { testWhen } from "../../tests/support/requirement.ts";
import { Actor } from "../core/testing/actors.ts";
import { createWorld } from "../core/testing/world.ts";
import { createChannel, message } from "../engine/testing/sample.ts";
import { openTestCluster } from "./testing/open_test_cluster.ts";

testWhen(
  natsInstalled,
  "agents of a relay whose log is silent are sent away, and taken again when it speaks",
  async () => {
    await using nats = await startNats({ nodes: 1 });
    const { engine, cluster } = await openTestCluster({
      ...nats.access,
      silenceLimits: { awayMs: 1_000 },
    });
    const world = await createWorld({ engine, cluster });
    const { client } = await Actor.connect(world, 1);
    const channelId = await createChannel(engine, 1);
    nats.freeze(0);
    const written = engine.append(channelId, message("late")).catch(() => {});
    const endOf = (ended: () => string | undefined): Promise<string | undefined> =>
      eventually(
        { what: "the relay says something else" },
        () => Promise.resolve(ended()),
        (code) => code !== undefined,
      );
    assertEquals(await endOf(() => client.ended?.code), "relay_draining");
    assertEquals(await endOf(() => world.connect().ended?.code), "overloaded");
    nats.thaw(0);
    await written;
    assertEquals(
      await endOf(() => world.connect().ended === undefined ? "taken" : undefined),
      "taken",
    );
    await world.close();
    await engine.close();
  },
);
