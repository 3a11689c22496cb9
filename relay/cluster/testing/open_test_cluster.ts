/** Relays' engines on nodes of a test, each with a log of its own unless told. */
import { type ClusterOptions, type OpenCluster, openCluster } from "../open_cluster.ts";

export interface TestClusterOptions extends Partial<Omit<ClusterOptions, "urls">> {
  readonly urls: readonly string[];
}

/** A name that no other test has. */
export function freshPrefix(): string {
  return `test_${crypto.randomUUID().replaceAll("-", "")}`;
}

/** Nodes set it aside for each log, and a test may have a hundred. */
const liveBytes = 16 * 1024 * 1024;

/** Whatever the relay says of faults is thrown at the end by who asks for it. */
export async function openTestCluster(options: TestClusterOptions): Promise<OpenCluster> {
  return await openCluster({
    isTls: false,
    monitorUrls: [],
    prefix: freshPrefix(),
    relay: "relay-1",
    replicas: 1,
    liveBytes,
    path: ":memory:",
    nowMs: Date.now,
    log: () => {},
    onFailed: () => {},
    ...options,
  });
}

export type { OpenCluster };
