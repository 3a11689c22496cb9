/** What schedules of the simulation have found, each in its shortest form. */
import { assertEquals } from "@std/assert";
import { Actor } from "./testing/actors.ts";
import { createWorld, type World } from "./testing/world.ts";

function test(name: string, run: (world: World) => Promise<void>): void {
  Deno.test(name, async () => {
    const world = await createWorld();
    try {
      await run(world);
      assertEquals(world.events.filter(({ event }) => event === "fault"), []);
    } finally {
      await world.close();
    }
  });
}

test("subscribing from a later position acknowledges nothing that lies before it", async (world) => {
  const alice = await Actor.connect(world, 1);
  const bob = await Actor.connect(world, 2);
  const channelId = await alice.createChannel();
  await alice.commit(channelId, 0, { added: [bob.agentId] });
  await bob.acknowledge(channelId, 1);
  await alice.send(channelId, 1, 1);
  await bob.subscribe(channelId, 2);
  await world.time.advance(5_000);
  await bob.reconnect();
  assertEquals((await bob.subscribe(channelId)).after, 1);
});
