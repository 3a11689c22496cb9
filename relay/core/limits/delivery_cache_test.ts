import { assertEquals } from "@std/assert";
import { parseChannelName } from "../../../proto/mod.ts";
import { type CachedEntries, DeliveryCacheBudget } from "./delivery_cache.ts";
import { Actor } from "../testing/actors.ts";
import { worldTest } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";

Deno.test("beyond the budget the tails that were quiet for longest are dropped, never the one that grows", () => {
  const budget = new DeliveryCacheBudget(100);
  const dropped: number[] = [];
  const tails = [0, 1, 2, 3].map((number): CachedEntries => {
    const tail: CachedEntries = {
      dropTail: () => {
        dropped.push(number);
        budget.hold(tail, 0);
      },
    };
    return tail;
  });
  for (const [number, bytes] of [[0, 40], [1, 40], [0, 50], [2, 30]] as const) {
    budget.hold(tails[number] ?? fail(), bytes);
  }
  assertEquals([dropped, budget.bytes], [[1], 80]);
  budget.hold(tails[3] ?? fail(), 300);
  assertEquals([dropped, budget.bytes], [[1, 0, 2], 300]);
  budget.hold(tails[3] ?? fail(), 0);
  assertEquals(budget.bytes, 0);
});

worldTest("who reads what is no longer in memory is delivered all of it", async (world) => {
  const [alice, bob] = [await Actor.connect(world, 1), await Actor.connect(world, 2)];
  const channels = [];
  for (const number of [1, 2]) {
    const channelId = await alice.createChannel(number, parseChannelName(`a/b/${number}`));
    await alice.commit(channelId, 0, { added: [bob.agentId] });
    await bob.acknowledge(channelId, 1);
    await bob.subscribe(channelId, 1, 5_000);
    channels.push(channelId);
  }
  for (let number = 1; number <= 20; number++) {
    for (const channelId of channels) await alice.send(channelId, 1, number, 2_000);
  }
  for (let sequence = 2; sequence <= 21; sequence++) {
    for (const channelId of channels) await bob.acknowledge(channelId, sequence);
    await settle();
  }
  const delivered = bob.client.pushed("DeliverMessage");
  for (const channelId of channels) {
    const sequences = delivered.filter((message) => message.channelId === channelId).map((
      { sequence },
    ) => sequence);
    assertEquals(sequences, Array.from({ length: 20 }, (_, index) => index + 2));
  }
}, { config: { tailBytesInAll: 10_000 } });

function fail(): never {
  throw new Error("there are four");
}
