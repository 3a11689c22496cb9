import { assert, assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { runSchedule } from "./testing/simulation.ts";
import { AgentStock } from "./testing/simulation_bytes.ts";

const stress = Deno.env.get("STATIC_STRESS") === "1";
const schedules = stress ? 10_000 : 400;
/** The default run takes as many as fit, and on a slow machine so many all the same. */
const budgetMs = stress ? Infinity : 12_000;
const fewest = 10;

Deno.test("schedules of 2 to 30 agents on a slow and mortal relay lose, repeat and reorder nothing", async () => {
  const stock = new AgentStock();
  const seeds = createRandom(seedFromEnvironment());
  const total = { schedules: 0, agents: 0, entries: 0, commits: 0, messages: 0 };
  const startMs = performance.now();
  const isOver = (): boolean => total.schedules >= fewest && performance.now() - startMs >= budgetMs;
  while (total.schedules < schedules && !isOver()) {
    // The first is the given one, so that the seed of a failure repeats it at once.
    const seed = total.schedules === 0 ? seeds.seed : seeds.uint32();
    try {
      const { agents, entries, commits, messages } = await runSchedule(seed, stock);
      total.agents += agents;
      total.entries += entries;
      total.commits += commits;
      total.messages += messages;
    } catch (error) {
      throw new Error(`schedule ${total.schedules}; STATIC_TEST_SEED=${seed} repeats it`, { cause: error });
    }
    total.schedules++;
  }
  console.log(`${JSON.stringify(total)} in ${Math.round((performance.now() - startMs) / 1000)} s`);
  // Schedules in which nothing happens would prove nothing.
  assert(total.commits > total.schedules && total.messages > 2 * total.schedules, JSON.stringify(total));
});

Deno.test("the same seed makes the same schedule", async () => {
  const stock = new AgentStock();
  const { seed } = createRandom(seedFromEnvironment());
  for (let number = 0; number < 3; number++) {
    const first = await runSchedule(seed + number, stock);
    assertEquals(await runSchedule(seed + number, stock), first, `STATIC_TEST_SEED=${seed}`);
  }
});
