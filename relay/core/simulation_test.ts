import { assert, assertEquals } from "@std/assert";
import { inCampaign, tried } from "../../tests/support/campaign.ts";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { runSchedule } from "./testing/simulation.ts";
import { AgentStock } from "./testing/simulation_bytes.ts";

const schedules = inCampaign ? 10_000 : 10;

Deno.test("schedules of 2 to 30 agents on a slow and mortal relay lose, repeat and reorder nothing", async () => {
  const stock = new AgentStock();
  const seeds = createRandom(seedFromEnvironment());
  const total = { schedules: 0, agents: 0, entries: 0, commits: 0, messages: 0 };
  const startMs = performance.now();
  while (total.schedules < schedules) {
    // The first is the given one, so that the seed of a failure repeats it at once.
    const seed = total.schedules === 0 ? seeds.seed : seeds.uint32();
    try {
      const { agents, entries, commits, messages } = await runSchedule(seed, stock);
      total.agents += agents;
      total.entries += entries;
      total.commits += commits;
      total.messages += messages;
    } catch (error) {
      throw new Error(`schedule ${total.schedules}; STATIC_TEST_SEED=${seed} repeats it`, {
        cause: error,
      });
    }
    total.schedules++;
  }
  console.log(`${JSON.stringify(total)} in ${Math.round((performance.now() - startMs) / 1000)} s`);
  // Schedules in which nothing happens would prove nothing.
  assert(
    total.commits > total.schedules && total.messages > 2 * total.schedules,
    JSON.stringify(total),
  );
  tried(`${total.schedules} schedules of ${total.entries} entries`);
});

Deno.test("the same seed makes the same schedule", async () => {
  const stock = new AgentStock();
  const { seed } = createRandom(seedFromEnvironment());
  for (let number = 0; number < 3; number++) {
    const first = await runSchedule(seed + number, stock);
    assertEquals(await runSchedule(seed + number, stock), first, `STATIC_TEST_SEED=${seed}`);
  }
});
