/**
 * Three relays are restarted one after the other, as for an upgrade, while 300 agents are
 * connected: each relay has its part of them again within three minutes.
 */
import { StaticClient } from "../../sdk/mod.ts";
import { tried } from "../support/campaign.ts";
import { eventually } from "../support/eventually.ts";
import { natsInstalled, testWhen } from "../support/mod.ts";
import { RelayCluster } from "../support/crowd/relay_cluster.ts";

const agents = 300;
const atOnce = 10;
const evenMs = 180_000;
const connectedMs = 60_000;
/** Between two restarts: an operator looks whether the relay is ready. */
const restMs = 5_000;

async function connectAll(cluster: RelayCluster, opened: AsyncDisposableStack): Promise<void> {
  const options = {
    endpoint: cluster.endpoint,
    apiUrl: cluster.api.url,
    apiKey: cluster.account.apiKey,
    tls: { caCerts: await cluster.authorities() },
    cover: "off",
  } as const;
  for (let first = 0; first < agents; first += atOnce) {
    const numbers = Array.from({ length: atOnce }, (_, index) => first + index);
    await Promise.all(numbers.map(async (number) => {
      const identity = `agent-${number}`;
      const dataDir = `${cluster.folder}/${identity}`;
      opened.use(await StaticClient.connect({ ...options, identity, dataDir }));
    }));
  }
}

/** Returns what each relay says of its load, for a failure. */
function describe(cluster: RelayCluster): Promise<string[]> {
  const names = ["sessions_authenticated", "sessions", "sessions_refused_total", "shed_total"];
  names.push("sessions_moved_total", "logins_waiting", "event_loop_lag_seconds");
  return Promise.all(cluster.relays.map(async (relay) => {
    const values = await Promise.all(names.map((name) => relay.metric(name)));
    return names.map((name, index) => `${name} ${values[index]}`).join(", ");
  }));
}

async function untilHolds(
  cluster: RelayCluster,
  limit: { readonly what: string; readonly withinMs: number },
  check: (sessions: readonly number[]) => boolean,
): Promise<number[]> {
  try {
    return await eventually(limit, () => cluster.agents(), check);
  } catch (error) {
    console.log((await describe(cluster)).join("\n"));
    throw error;
  }
}

testWhen(
  natsInstalled,
  "after a rolling restart of three relays with 300 agents each has 60 to 140 within three minutes",
  async () => {
    await using cluster = await RelayCluster.start({ relays: 3 });
    await using opened = new AsyncDisposableStack();
    await connectAll(cluster, opened);
    const isWhole = (all: readonly number[]): boolean =>
      all.reduce((sum, count) => sum + count) === agents;
    const whole = { what: "all agents are connected", withinMs: connectedMs };
    console.log(`connected: ${await untilHolds(cluster, whole, isWhole)}`);
    await cluster.restartOneByOne(restMs);
    console.log(`restarted: ${await untilHolds(cluster, whole, isWhole)}`);
    const startMs = Date.now();
    const even = await untilHolds(
      cluster,
      { what: "sessions are even", withinMs: evenMs },
      (all) => all.every((count) => count >= 60 && count <= 140) && isWhole(all),
    );
    const tookS = Math.round((Date.now() - startMs) / 1_000);
    tried(`a rolling restart with ${agents} agents: ${even} after ${tookS} s`);
  },
);
