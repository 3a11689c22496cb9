/**
 * Faults of a service with several relays, one function each. Each returns how long it took until
 * everybody was served again, in milliseconds: from the beginning of the fault where the others can
 * go on without what is lost, and from the end of the fault where nobody can. Whatever was taken
 * away is back when it returns.
 */
import { leaderOf } from "../support/log_leader.ts";
import type { NatsOptions, Random } from "../support/mod.ts";
import { TcpWay } from "../support/tcp_way.ts";
import type { Crowd } from "../support/crowd/crowd.ts";
import type { ClusterRelay, RelayCluster } from "../support/crowd/relay_cluster.ts";
import { SmallDisk } from "./small_disk.ts";

/** Longer than any recovery that is allowed: a campaign tells how long it was. */
const patienceMs = 180_000;
const diskMegabytes = 256;
const [nodeCount, relayCount] = [3, 3];

/** The service and its agents, and everything that a fault needs beside them. */
export interface Stage {
  readonly cluster: RelayCluster;
  readonly crowd: Crowd;
  readonly random: Random;
  readonly network: NodeNetwork;
  /** Of nodes and of relays. */
  readonly disks: { readonly nodes: readonly SmallDisk[]; readonly relays: readonly SmallDisk[] };
}

type ClusterFault = (stage: Stage) => Promise<number>;

/**
 * Every way to a node, from nodes and from relays, leads through this process, so that it can be
 * cut.
 */
export class NodeNetwork implements Disposable {
  readonly #ways: { readonly ends: readonly (number | undefined)[]; readonly way: TcpWay }[] = [];

  readonly wayTo: NonNullable<NatsOptions["wayTo"]> = (from, to, port) => {
    const way = new TcpWay(port);
    this.#ways.push({ ends: [from, to], way });
    return way.port;
  };

  /** Nothing reaches the node or leaves it, and nobody is told. */
  cutOff(node: number): void {
    for (const { ends, way } of this.#ways) if (ends.includes(node)) way.cut();
  }

  heal(): void {
    for (const { way } of this.#ways) way.heal();
  }

  [Symbol.dispose](): void {
    for (const { way } of this.#ways) way[Symbol.dispose]();
  }
}

/** A disk for each node and each relay. */
export async function mountDisks(opened: AsyncDisposableStack): Promise<Stage["disks"]> {
  const mount = async (count: number): Promise<SmallDisk[]> => {
    const disks: SmallDisk[] = [];
    for (let number = 0; number < count; number++) {
      disks.push(opened.use(await SmallDisk.mount(diskMegabytes)));
    }
    return disks;
  };
  return { nodes: await mount(nodeCount), relays: await mount(relayCount) };
}

async function untilServed({ crowd }: Stage, sinceMs: number): Promise<number> {
  await crowd.progress(patienceMs);
  return Date.now() - sinceMs;
}

async function findLeader({ cluster }: Stage): Promise<number> {
  return await leaderOf(cluster.nats, "static");
}

/** Stops in order and starts again, as an upgrade does. */
async function replaceRelay(relay: ClusterRelay): Promise<void> {
  const { process } = relay;
  process.signal("SIGTERM");
  const code = await process.finished();
  if (code !== 0) {
    throw new Error(
      `A relay that was asked to stop ended with ${code}: ${process.output().slice(-2_000)}`,
    );
  }
  await relay.startAgain();
}

export const clusterFaults: Readonly<Record<string, ClusterFault>> = {
  "leader killed": async (stage) => {
    const { nats } = stage.cluster;
    const node = await findLeader(stage);
    const sinceMs = Date.now();
    await nats.kill(node);
    const [tookMs] = await Promise.all([untilServed(stage, sinceMs), nats.restart(node)]);
    return tookMs;
  },
  "leader away": async (stage) => {
    const { nats } = stage.cluster;
    const node = await findLeader(stage);
    const sinceMs = Date.now();
    await nats.kill(node);
    const tookMs = await untilServed(stage, sinceMs);
    await nats.restart(node);
    return tookMs;
  },
  "leader frozen": async (stage) => {
    const { nats } = stage.cluster;
    const node = await findLeader(stage);
    const sinceMs = Date.now();
    nats.freeze(node);
    const tookMs = await untilServed(stage, sinceMs);
    nats.thaw(node);
    return tookMs;
  },
  "leader cut off": async (stage) => {
    const node = await findLeader(stage);
    const sinceMs = Date.now();
    stage.network.cutOff(node);
    const tookMs = await untilServed(stage, sinceMs);
    stage.network.heal();
    return tookMs;
  },
  "relay killed": async (stage) => {
    const relay = stage.random.pick(stage.cluster.relays);
    const sinceMs = Date.now();
    await relay.process.stop();
    const [tookMs] = await Promise.all([untilServed(stage, sinceMs), relay.startAgain()]);
    return tookMs;
  },
  "relay frozen": async (stage) => {
    const { process } = stage.random.pick(stage.cluster.relays);
    const sinceMs = Date.now();
    process.signal("SIGSTOP");
    const tookMs = await untilServed(stage, sinceMs);
    process.signal("SIGCONT");
    return tookMs;
  },
  "leader's disk full": async (stage) => {
    const { nats } = stage.cluster;
    const node = await findLeader(stage);
    const disk = stage.disks.nodes[node];
    const sinceMs = Date.now();
    await disk?.fill();
    const tookMs = await untilServed(stage, sinceMs);
    await disk?.free();
    // A node does not write again by itself after its disk was full.
    await nats.kill(node, "SIGTERM");
    await nats.restart(node);
    return tookMs;
  },
  "relay's disk full": async (stage) => {
    const { relays } = stage.cluster;
    const [index, relay] = stage.random.pick([...relays.entries()]);
    const disk = stage.disks.relays[index];
    const sinceMs = Date.now();
    await disk?.fill();
    const tookMs = await untilServed(stage, sinceMs);
    await disk?.free();
    if (relay.lastWords !== undefined) await relay.startAgain();
    return tookMs;
  },
  "all at once": async (stage) => {
    const { cluster } = stage;
    const { nats, relays, api } = cluster;
    const nodes = [...nats.access.urls.keys()];
    await Promise.all([
      ...nodes.map((node) => nats.kill(node)),
      ...relays.map(({ process }) => process.stop()),
      api.stop(),
    ]);
    const sinceMs = Date.now();
    await Promise.all([
      nats.restartAll(nodes),
      cluster.startApi(),
      ...relays.map((relay) => relay.startAgain()),
    ]);
    return await untilServed(stage, sinceMs);
  },
  "rolling restart": async (stage) => {
    const { nats, relays } = stage.cluster;
    const steps = [
      ...relays.map((relay) => () => replaceRelay(relay)),
      ...nats.access.urls.keys().map((node) => async () => {
        await nats.kill(node, "SIGTERM");
        await nats.restart(node);
      }),
    ];
    let slowestMs = 0;
    for (const step of steps) {
      const sinceMs = Date.now();
      const [tookMs] = await Promise.all([untilServed(stage, sinceMs), step()]);
      slowestMs = Math.max(slowestMs, tookMs);
    }
    return slowestMs;
  },
};
