/** What clients try that are not honest, or not careful: nothing of it may cost others anything. */
import { assertEquals } from "@std/assert";
import { createAgent } from "./testing/client.ts";
import { refused, worldTest } from "./testing/scene.ts";
import { settle } from "./testing/simulated_time.ts";
import { startMs, tokenOf } from "./testing/world.ts";

const hourMs = 60 * 60 * 1000;

worldTest("a session is never that of two agents, however it answers two challenges at once", async (world) => {
  const challenge = { versions: [1], features: [] };
  const token = tokenOf(1, startMs + hourMs);
  const client = world.connect();
  const { nonce } = await client.call("GetChallenge", challenge);
  // The second answer comes while the token of the first is looked at.
  const first = client.call("Authenticate", client.answer(createAgent(1), token, nonce));
  client.call("GetChallenge", challenge);
  const second = client.call("Authenticate", client.answer(createAgent(2), token, nonceOf(2)));
  assertEquals((await first).agentId, createAgent(1).agentId);
  await refused("invalid_request", second);
  await settle();
  assertEquals(world.core.stats().authenticated, 1);
  client.close();
  assertEquals([world.core.stats().sessions, world.core.stats().authenticated], [0, 0]);
}, { random: countedNonces() });

/** Nonces that a client can know before it is told, so that it need not wait. */
function countedNonces(): (length: number) => Uint8Array {
  let count = 0;
  return (length) => nonceOf(++count, length);
}

function nonceOf(count: number, length = 32): Uint8Array {
  return new Uint8Array(length).fill(count);
}
