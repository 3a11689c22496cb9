// The nodes' memory is bounded, and a relay that begins has everything although the nodes have
// dropped the oldest entries.
import { assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { jetstreamManager } from "@nats-io/jetstream";
import { connectToNodes } from "../nodes/node_connection.ts";
import { limits } from "../../../proto/mod.ts";
import { natsInstalled } from "../../../tests/support/nats.ts";
import { testWhen } from "../../../tests/support/requirement.ts";
import type { PoolUpload } from "../../engine/engine.ts";
import { sampleAccount, sampleAgent } from "../../engine/testing/sample.ts";
import { freshPrefix, openTestCluster } from "../testing/open_test_cluster.ts";
import { sharedUrls as urls } from "../testing/shared_nats.ts";

const MiB = 1024 * 1024;
const liveBytes = 8 * MiB;
const nowMs = 1_000;

/** 1.6 MB. */
function largestUpload(): PoolUpload {
  const keyPackages = Array.from({ length: 100 }, (_, number) => {
    const reference = new Uint8Array(32).fill(number);
    return { bytes: new Uint8Array(limits.keyPackageBytes), reference, notAfterMs: 10_000 };
  });
  const room = {
    account: sampleAccount(1),
    bytesPerAccount: 64 * MiB,
    bytesGuaranteed: 0,
    bytesInAll: 64 * MiB,
  };
  return { keyPackages, replace: false, capacity: 100, nowMs, ...room };
}

testWhen(
  natsInstalled,
  "the nodes' memory is bounded, also that of a stream which was made with another bound",
  async () => {
    const prefix = freshPrefix();
    const connection = await connectToNodes({ servers: [...urls] });
    const manager = await jetstreamManager(connection);
    const options = { urls, prefix, liveBytes };
    await (await openTestCluster({ ...options, liveBytes: 2 * liveBytes })).engine.close();
    const first = await openTestCluster({ ...options, relay: "relay-1" });
    const agents = Array.from({ length: 8 }, (_, index) => sampleAgent(index + 1));
    for (const agentId of agents) await first.engine.keyPackages.put(agentId, largestUpload());
    const { state } = await manager.streams.info(`${prefix}_LIVE`);
    assertLessOrEqual(state.bytes, liveBytes);
    assertGreater(state.first_seq, 1);
    const second = await openTestCluster({ ...options, relay: "relay-2" });
    for (const { engine } of [first, second]) {
      const counts = await Promise.all(
        agents.map((agentId) => engine.keyPackages.count(agentId, nowMs)),
      );
      assertEquals(counts.map(({ keyPackages }) => keyPackages), agents.map(() => 100));
    }
    await second.engine.close();
    await first.engine.close();
    await connection.close();
  },
);
