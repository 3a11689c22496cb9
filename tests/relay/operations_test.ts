// One suite over QUIC and over typed calls, from this process to a relay in it. Other runtimes,
// transports and the proxy are a campaign: `operations_campaign.ts`.
import type { Relay } from "../support/relay/agent.ts";
import type { CellClient } from "../support/relay/cell_client.ts";
import { connectTransport, openQuic } from "../support/relay/deno_clients.ts";
import { startTestRelay, testOrigin } from "../support/relay/test_relay.ts";
import { TypedClient } from "../support/relay/typed_client.ts";
import { runTests } from "../support/runtime/suite.ts";
import { report, untilEmpty } from "./operations_run.ts";
import { createOperations } from "./operations_suite.ts";

async function runHere(t: Deno.TestContext, relay: Relay): Promise<void> {
  await report(t, await runTests(createOperations(relay)));
}

Deno.test("operations over QUIC", async (t) => {
  await using relay = await startTestRelay();
  const open = (): Promise<CellClient> => openQuic(relay.edge.quicPort, relay.certificate.cert);
  await runHere(t, { open, origin: testOrigin });
  await untilEmpty(relay);
});

Deno.test("operations over typed calls by the Connect protocol", async (t) => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  const open = (): Promise<TypedClient> => Promise.resolve(new TypedClient(http.transport));
  await runHere(t, { open, origin: testOrigin });
});
