// The operations suite against relays that share one log: agents are spread over them.
import { assertEquals } from "@std/assert";
import { natsInstalled, startNats } from "../support/nats.ts";
import { testWhen } from "../support/mod.ts";
import type { Relay } from "../support/relay/agent.ts";
import { startClusterRelays } from "../support/relay/cluster_relays.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { testOrigin } from "../support/relay/test_relay.ts";
import { runTests } from "../support/runtime/suite.ts";
import { createOperations, operationCount } from "./operations_suite.ts";

for (const count of [1, 3]) {
  testWhen(natsInstalled, `operations on ${count} relays of a cluster`, async (t) => {
    await using nats = await startNats({ nodes: 1 });
    await using cluster = await startClusterRelays({ nats, count });
    let opened = 0;
    const relay: Relay = {
      open: () => openQuic(cluster.relays[opened++ % count]?.relay.quicPort ?? 0, cluster.certificate.cert),
      origin: testOrigin,
    };
    const results = await runTests(createOperations(relay));
    assertEquals(results.length, operationCount);
    for (const { name, outcome, text } of results) {
      await t.step(name, () => assertEquals(outcome, "passed", text));
    }
  });
}
