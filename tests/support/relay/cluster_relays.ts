/**
 * Relays of one cluster in this process: the real core behind real ports, on one log. A fault of
 * their code fails the test.
 */
import {
  freshPrefix,
  type OpenCluster,
  openTestCluster,
} from "../../../relay/cluster/testing/open_test_cluster.ts";
import {
  openTestRelay,
  type TestRelay,
  type TestRelayOptions,
} from "../../../relay/testing/open_relay.ts";
import { createCertificate, type TestCertificate } from "../mod.ts";
import type { TestNats } from "../nats.ts";
import { testOrigin } from "./test_relay.ts";

export interface ClusterRelay extends OpenCluster {
  readonly relay: TestRelay;
}

export interface ClusterRelays extends AsyncDisposable {
  readonly relays: readonly ClusterRelay[];
  readonly certificate: TestCertificate;
  readonly prefix: string;
}

export interface ClusterRelaysOptions {
  readonly nats: Pick<TestNats, "access">;
  readonly count: number;
  readonly replicas?: number;
  readonly config?: TestRelayOptions["config"];
}

const cellBytes = 2048;

export async function startClusterRelays(options: ClusterRelaysOptions): Promise<ClusterRelays> {
  const { nats, count, replicas = 1, config } = options;
  const certificate = await createCertificate();
  const prefix = freshPrefix();
  const faults: unknown[] = [];
  const relays: ClusterRelay[] = [];
  for (let number = 1; number <= count; number++) {
    const cluster = await openTestCluster({
      ...nats.access,
      prefix,
      replicas,
      relay: `relay-${number}`,
      log: (level, event, fields) =>
        void (level === "error" && faults.push(new Error(event, { cause: fields }))),
      onFailed: (error) => faults.push(error),
    });
    const relay = await openTestRelay({
      cluster,
      certificate,
      config: { cellBytes, origins: [testOrigin], ...config },
      onEvent: (event) => void (event.event === "fault" && faults.push(event.error)),
    });
    relays.push({ ...cluster, relay });
  }
  return {
    relays,
    certificate,
    prefix,
    [Symbol.asyncDispose]: async () => {
      for (const { relay } of relays) await relay.close();
      if (faults.length > 0) throw new AggregateError(faults, "The relays reported faults");
    },
  };
}
