/**
 * Agents talk through several relays on one log while processes of the service are killed, which
 * ones and in which order the seed decides. In the end the auditor reads what everybody wrote down.
 * Fifty agents, and every process once.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { createRandom, natsInstalled, seedFromEnvironment, testWhen } from "../support/mod.ts";
import { Crowd } from "../support/crowd/crowd.ts";
import { pause } from "./exchange.ts";
import { RelayCluster } from "../support/crowd/relay_cluster.ts";

const [groups, members] = [10, 5];
const everyMs = 500;
const outageMs = 3_000;
/** An election takes up to nine seconds, and a dead QUIC connection is noticed after ten. */
const recoveryMs = 90_000;

interface Victim {
  readonly name: string;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

function victimsOf(cluster: RelayCluster): Victim[] {
  return [
    ...cluster.relays.map((relay, index) => ({
      name: `relay ${index + 1}`,
      kill: () => relay.process.stop(),
      start: () => relay.start(),
    })),
    ...cluster.nats.access.urls.map((_, node) => ({
      name: `NATS node ${node + 1}`,
      kill: () => cluster.nats.kill(node),
      start: () => cluster.nats.restart(node),
    })),
    { name: "the API", kill: () => cluster.api.stop(), start: () => cluster.startApi() },
  ];
}

testWhen(
  natsInstalled,
  `${
    groups * members
  } agents over three relays survive kill -9 of every process: each accepted text is heard once, by all, in one order`,
  async (t) => {
    const seed = seedFromEnvironment();
    const random = createRandom(seed);
    await using cluster = await RelayCluster.start({ relays: 3 });
    await using crowd = await Crowd.of(cluster, { groups, members, everyMs });
    await crowd.progress(recoveryMs);
    const victims = victimsOf(cluster).map((victim) => ({ victim, key: random.uint32() }))
      .sort((a, b) => a.key - b.key);
    for (const { victim } of victims) {
      await t.step(`kill -9 of ${victim.name}`, async () => {
        const startMs = Date.now();
        await victim.kill();
        await pause(outageMs);
        await victim.start();
        await crowd.progress(recoveryMs);
        const lastWords = cluster.relays.map((relay) => relay.lastWords);
        assertEquals(
          lastWords.filter((words) => words !== undefined),
          [],
          `seed ${seed}: a relay ended by itself`,
        );
        console.log(`${victim.name}: everybody was heard again after ${Date.now() - startMs} ms`);
      });
    }
    const spread = await Promise.all(cluster.relays.map((relay) => relay.agents()));
    const audits = await crowd.finish(recoveryMs);
    const sum = (count: (audit: typeof audits[number]) => number): number =>
      audits.reduce((total, audit) => total + count(audit), 0);
    const accepted = sum((audit) => audit.accepted);
    console.log(
      `seed ${seed}: ${accepted} texts accepted, heard ${sum((audit) => audit.heard)} times, ` +
        `${
          sum((audit) => audit.undecided)
        } sends without an answer, ${crowd.missing} declared missing, ` +
        `agents per relay in the end ${spread.join(", ")}`,
    );
    tried(`${victims.length} kills, ${accepted} messages`);
    assertEquals(audits.flatMap(({ violations }) => violations), [], `seed ${seed}`);
    assertEquals(
      await cluster.settledUsage(),
      accepted,
      `seed ${seed}: what the account is charged`,
    );
    assertGreater(accepted, groups * members * 10);
    assert(
      spread.reduce((total, agents) => total + agents) >= groups * members,
      `seed ${seed}: sessions`,
    );
  },
);
