/**
 * Agents talk through three relays on three nodes, over TLS with keys, while faults happen to
 * leaders, relays and disks, one after the other; the seed decides which. After each fault
 * everybody falls silent and the auditor reads what all wrote down: what was accepted was heard
 * once by all, in one order. After each round the account must be charged for exactly that. A round
 * has a service of its own. `tests/support/fault_run.ts` says how a campaign is interrupted and
 * goes on, and which faults happen.
 */
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { defaultTiming, noticedMs } from "../../sdk/testing/agents.ts";
import { tried } from "../support/campaign.ts";
import { faultNamed, FaultRun, type Recoveries } from "../support/fault_run.ts";
import {
  createRandom,
  natsInstalled,
  type Random,
  seedFromEnvironment,
  testWhen,
} from "../support/mod.ts";
import { clusterFaults, mountDisks, NodeNetwork, type Stage } from "./cluster_faults.ts";
import { Crowd } from "../support/crowd/crowd.ts";
import { RelayCluster } from "../support/crowd/relay_cluster.ts";
import { smallDisks } from "./small_disk.ts";

const run = FaultRun.fromEnvironment(200);
const kinds = Object.keys(clusterFaults);
const roundFaults = 20;
const [groups, members] = [4, 3];
const everyMs = 500;
const patienceMs = 180_000;
/**
 * For everybody to be served again. Everybody has a call under way, so a relay that vanished is
 * noticed, and another one found, by an attempt that may take its whole time.
 */
const slowestMs = noticedMs + defaultTiming.connectMs;

const requirement = {
  met: natsInstalled.met && smallDisks.met,
  reason: natsInstalled.met ? smallDisks.reason : natsInstalled.reason,
};

testWhen(
  requirement,
  "over TLS every accepted text is heard once, in one order, and charged once, whatever fault comes",
  async (t) => {
    const seed = seedFromEnvironment();
    const random = createRandom(seed);
    for (let round = 1;; round++) {
      const missing = await run.missing();
      if (missing === 0) break;
      const plan = planOf(Math.min(roundFaults, missing), await run.recoveries(), random);
      const follow = (t: Deno.TestContext): Promise<void> =>
        run.attempt(() => runRound(t, plan, random));
      if (!await t.step(`round ${round}, seed ${seed}`, follow)) break;
    }
    const [all, slowest] = [await run.recoveries(), await run.slowest()];
    const slowestWords = `slowest recovery ${(slowest.ms / 1000).toFixed(1)} s (${slowest.kind})`;
    tried(`${countOf(all)} of ${run.wanted} faults over TLS, ${slowestWords}`);
    for (const [kind, times] of Object.entries(all)) {
      console.log(`${kind}: ${times.length}, slowest ${(Math.max(...times) / 1000).toFixed(1)} s`);
    }
    assertLess(slowest.ms, slowestMs, `the slowest recovery, after: ${slowest.kind}`);
    await run.assertComplete();
  },
);

/** Names of faults: those first that have happened least. */
function planOf(count: number, soFar: Recoveries, random: Random): string[] {
  const counts = new Map(kinds.map((kind) => [kind, soFar[kind]?.length ?? 0]));
  return Array.from({ length: count }, () => {
    const least = Math.min(...counts.values());
    const next = random.pick(kinds.filter((kind) => counts.get(kind) === least));
    counts.set(next, least + 1);
    return next;
  });
}

function countOf(recoveries: Recoveries): number {
  return Object.values(recoveries).flat().length;
}

async function runRound(
  t: Deno.TestContext,
  plan: readonly string[],
  random: Random,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const disks = await mountDisks(opened);
  const network = opened.use(new NodeNetwork());
  const cluster = opened.use(
    await RelayCluster.start({
      relays: 3,
      nodes: { wayTo: network.wayTo, folderOf: (node) => `${disks.nodes[node]?.folder}/node` },
      relayFolder: (relay) => `${disks.relays[relay]?.folder}/relay`,
    }),
  );
  const crowd = opened.use(await Crowd.of(cluster, { groups, members, everyMs }));
  const stage: Stage = { cluster, crowd, random, network, disks };
  const recoveries: Record<string, number[]> = {};
  await crowd.progress(patienceMs);
  for (const kind of plan) {
    const happen = async (): Promise<void> => {
      const told = crowd.remarks.length;
      const recoveryMs = await faultNamed(clusterFaults, kind)(stage);
      if (recoveryMs >= slowestMs) {
        await run.tell({ kind, recoveryMs, slow: crowd.remarks.slice(told) });
      }
      await crowd.progress(patienceMs);
      recoveries[kind] = [...recoveries[kind] ?? [], recoveryMs];
      await run.tell({ kind, recoveryMs });
      for (const relay of cluster.relays) if (relay.isGivenUp) await relay.startAgain();
      assertEquals(
        cluster.relays.flatMap(({ lastWords = [] }) => lastWords),
        [],
        "a relay ended by itself",
      );
      const audits = await crowd.hush(patienceMs);
      assertEquals(audits.flatMap(({ violations }) => violations), []);
      await crowd.talk();
    };
    const isKept = await t.step(kind, () => run.attempt(happen));
    // The faults behind it would only say the same again.
    if (!isKept) return;
  }
  const audits = await crowd.finish(patienceMs);
  assertEquals(audits.flatMap(({ violations }) => violations), []);
  const accepted = audits.reduce((sum, audit) => sum + audit.accepted, 0);
  assertEquals(await cluster.settledUsage(), accepted, "what the account is charged");
  const audited = countOf(recoveries);
  assertGreater(accepted, audited * groups * members);
  await run.tell({ audited, accepted, recoveries });
}
