/**
 * Agents talk on a real stack while one thing after the other goes wrong, in an order that the seed
 * decides. In the end the auditor reads what everybody wrote down. The test command has three
 * kills; the campaign has every fault many times, and longer.
 */
import { assertEquals, assertGreater } from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { Exchange } from "./exchange.ts";
import { type Fault, faults } from "./faults.ts";

const rounds = inCampaign ? 20 : 1;
const outageMs = inCampaign ? 12_000 : 2_000;
const kills: readonly string[] = [
  "kill -9 of an agent",
  "kill -9 of the relay",
  "kill -9 of the API; messages go on without it",
];
const chosen = inCampaign ? faults : faults.filter(({ name }) => kills.includes(name));

Deno.test(`agents on a real stack survive ${chosen.length} faults: each accepted text is heard once, by all, in one order`, async (t) => {
  const seed = seedFromEnvironment();
  const random = createRandom(seed);
  await using exchange = await Exchange.open(seed);
  for (let round = 0; round < rounds; round++) {
    for (const { name, happen } of shuffled(chosen, random)) {
      await t.step(name, async () => {
        const startMs = Date.now();
        await happen(exchange, { outageMs });
        const overMs = Date.now();
        await exchange.progress();
        console.log(
          `${name}: ${overMs - startMs} ms, everybody heard again ${Date.now() - overMs} ms later`,
        );
      });
    }
  }
  const { violations, accepted, heard, repeated, undecided, epochs, missing, used } = await exchange
    .finish();
  console.log(
    `seed ${seed}: ${accepted} texts accepted, heard ${heard} times, ${repeated} again after a crash, ` +
      `${undecided} sends without an answer, ${missing} declared missing, ${epochs} epochs`,
  );
  assertEquals(violations, [], `seed ${seed}`);
  assertEquals(used, accepted, `seed ${seed}: what the account is charged`);
  assertGreater(accepted, inCampaign ? 100 : 10);
  tried(`${rounds * chosen.length} faults, ${accepted} messages heard ${heard} times`);
});

function shuffled(list: readonly Fault[], random: Random): Fault[] {
  return list.map((item) => ({ item, key: random.uint32() })).sort((a, b) => a.key - b.key).map((
    { item },
  ) => item);
}
