/** An agent that waits for its session to begin in the log that relays share. */
import { assertEquals } from "@std/assert";
import { Actor } from "./testing/actors.ts";
import { quietCluster } from "./testing/quiet_cluster.ts";
import { settle } from "./testing/simulated_time.ts";
import { createWorld, startMs, tokenOf, type World } from "./testing/world.ts";

/** An agent authenticates, and the log does not answer. */
async function waiting(): Promise<{ world: World; actor: Actor; isWanted: () => boolean }> {
  const { promise: asked, resolve } = Promise.withResolvers<() => boolean>();
  const cluster = quietCluster({
    beginSession: (_, isWanted = () => true) => {
      resolve(isWanted);
      return new Promise(() => {});
    },
  });
  const world = await createWorld({ cluster });
  const actor = new Actor(world, 1);
  void actor.client.authenticate(actor.agent, tokenOf(1, startMs + 3_600_000)).catch(() => {});
  return { world, actor, isWanted: await asked };
}

Deno.test("a session that lands late is wanted while its agent is connected", async () => {
  const { world, actor, isWanted } = await waiting();
  assertEquals(isWanted(), true);
  actor.client.close();
  await settle();
  assertEquals(isWanted(), false);
  await world.close();
});
