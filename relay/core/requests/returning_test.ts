/** Agents are told within which time to come back, and when to log in. */
import { assert, assertEquals } from "@std/assert";
import { protocolVersion } from "../../../proto/mod.ts";
import { Actor } from "../testing/actors.ts";
import { createAgent } from "../testing/client.ts";
import { quietCluster } from "../testing/quiet_cluster.ts";
import { refused, worldTest } from "../testing/scene.ts";
import { createWorld, startMs, tokenOf, type World } from "../testing/world.ts";
import { unknownLoad } from "../relay_load.ts";

const dayMs = 24 * 60 * 60 * 1000;
const token = tokenOf(1, startMs + dayMs);

worldTest(
  "a relay tells agents when to come back that know of it, and no older ones",
  async (world) => {
    const client = world.connect();
    const told = await client.authenticate(createAgent(1), token);
    assertEquals(told.returnWithinMs, 500);
    assertEquals((await client.call("Ping", {})).returnWithinMs, 500);
    const older = world.connect();
    const asked = { versions: [protocolVersion], features: [3] };
    assertEquals((await older.call("Ping", {})).returnWithinMs, undefined);
    const { nonce } = await older.call("GetChallenge", asked);
    const reply = await older.call("Authenticate", older.answer(createAgent(2), token, nonce));
    assertEquals("returnWithinMs" in reply, false);
    assertEquals("returnWithinMs" in await older.call("Ping", {}), false);
  },
);

Deno.test("the time grows with the sessions of a relay, and is divided by the others that have room", async () => {
  for (const [others, expected] of [[0, 1_120], [1, 1_120], [2, 560]] as const) {
    const loads = Array.from({ length: others }, () => ({ ...unknownLoad, hasRoom: true }));
    const cluster = quietCluster({ others: () => [...loads, unknownLoad] });
    const world = await createWorld({ cluster });
    const actors: Actor[] = [];
    for (let number = 1; number <= 200; number++) actors.push(await Actor.connect(world, number));
    assertEquals((await actors[0]?.client.call("Ping", {}))?.returnWithinMs, expected);
    await world.close();
  }
});

/** Logs in as many as the bucket gives to strangers. */
async function exhaust(world: World): Promise<number> {
  for (let number = 1;; number++) {
    const client = world.connect();
    const login = client.authenticate(createAgent(number), tokenOf(number, startMs + dayMs));
    if (await login.then(() => false, () => true)) return number;
    client.close();
  }
}

Deno.test("logins beyond half a core are told when to come, members of channels last, and come in then", async () => {
  const world = await createWorld({ cpuMs: () => 0 });
  const alice = await Actor.connect(world, 9_000);
  await alice.createChannel();
  const late = await exhaust(world);
  const agent = createAgent(late);
  const again = (): Promise<unknown> =>
    world.connect().authenticate(agent, tokenOf(late, startMs + dayMs));
  const { body: { retryAfterMs = 0 } } = await refused("overloaded", again());
  assert(retryAfterMs > 0 && retryAfterMs < 100, String(retryAfterMs));
  assertEquals(world.core.stats().loginsWaiting, 1);
  await alice.reconnect();
  await world.time.advance(retryAfterMs);
  await again();
  assertEquals(world.core.stats().loginsWaiting, 0);
  await world.close();
});
