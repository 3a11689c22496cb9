// The operations suite against relays that share one log: agents are spread over them. In a
// campaign they also change them all the time, or all are at one.
import { assert, assertEquals } from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import { natsInstalled, startNats } from "../support/nats.ts";
import { testWhen } from "../support/mod.ts";
import type { Relay } from "../support/relay/agent.ts";
import { startClusterRelays } from "../support/relay/cluster_relays.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { MovingClient } from "../support/relay/moving_client.ts";
import type { RelayClient } from "../support/relay/relay_client.ts";
import { testOrigin } from "../support/relay/test_relay.ts";
import { runTests } from "../support/runtime/suite.ts";
import { createOperations, operationCount } from "./operations_suite.ts";

async function operate(t: Deno.TestContext, count: number, open: Opening): Promise<void> {
  await using nats = await startNats({ nodes: 1 });
  await using cluster = await startClusterRelays({ nats, count });
  let opened = 0;
  const next = (): Promise<RelayClient> =>
    openQuic(cluster.relays[opened++ % count]?.relay.quicPort ?? 0, cluster.certificate.cert);
  const relay: Relay = { open: () => open(next), origin: testOrigin, isShared: count > 1 };
  const results = await runTests(createOperations(relay));
  assertEquals(results.length, operationCount);
  for (const { name, outcome, text } of results) {
    await t.step(name, () => assertEquals(outcome, "passed", text));
  }
}

type Opening = (next: () => Promise<RelayClient>) => Promise<RelayClient>;

for (const count of inCampaign ? [1, 3] : [3]) {
  testWhen(
    natsInstalled,
    `operations on ${count} relays of a cluster`,
    (t) => operate(t, count, (next) => next()),
  );
}

if (inCampaign) {
  testWhen(
    natsInstalled,
    "operations of agents that change relays between any two calls",
    async (t) => {
      let moves = 0;
      await operate(t, 3, async (next) => {
        const client = await MovingClient.open({ open: next });
        client.onMoved = () => moves++;
        return client;
      });
      assert(moves > 100, `only ${moves} moves`);
      tried(`${operationCount} operations with ${moves} moves`);
    },
  );
}
