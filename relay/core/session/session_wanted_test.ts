/** An agent that waits for its session to begin in the log that relays share. */
import { assertEquals } from "@std/assert";
import { protocolVersion } from "../../../proto/mod.ts";
import type { SessionWish } from "../cluster.ts";
import { Actor } from "../testing/actors.ts";
import { quietCluster } from "../testing/quiet_cluster.ts";
import { settle } from "../testing/simulated_time.ts";
import { createWorld, startMs, tokenOf, type World } from "../testing/world.ts";

const token = tokenOf(1, startMs + 3_600_000);

/**
 * An agent authenticates, and the log does not answer. `lateMs`: so long the relay stands still
 * before it reads the answer.
 */
async function waiting(
  lateMs = 0,
): Promise<{ world: World; actor: Actor; wish: SessionWish | undefined }> {
  const { promise: asked, resolve } = Promise.withResolvers<SessionWish | undefined>();
  const read = { position: 5 };
  const cluster = quietCluster({
    moment: () => ({ ...read, timeMs: world.time.nowMs() }),
    beginSession: (_, wish) => {
      resolve(wish);
      return new Promise(() => {});
    },
  });
  const world = await createWorld({ cluster });
  const actor = new Actor(world, 1);
  const { nonce } = await actor.client.call("GetChallenge", {
    versions: [protocolVersion],
    features: [],
  });
  await world.time.advance(lateMs);
  read.position = 6;
  void actor.client.call("Authenticate", actor.client.answer(actor.agent, token, nonce)).catch(
    () => {},
  );
  return { world, actor, wish: await asked };
}

Deno.test("a session that lands late is wanted while its agent is connected", async () => {
  const { world, actor, wish } = await waiting();
  assertEquals(wish?.isWanted(), true);
  actor.client.close();
  await settle();
  assertEquals(wish?.isWanted(), false);
  await world.close();
});

Deno.test("an agent came when it asked for its challenge, however late the relay reads the answer", async () => {
  const { world, wish } = await waiting(9_000);
  assertEquals(wish?.since, { position: 5, timeMs: startMs });
  await world.close();
});
