import { assertEquals, assertRejects } from "@std/assert";
import { openTestRelay } from "../../relay/testing/open_relay.ts";
import { createCertificate } from "../support/mod.ts";
import { TestAgent } from "../support/relay/agent.ts";
import { connectTransport } from "../support/relay/deno_clients.ts";
import { CallFailed } from "../support/relay/relay_client.ts";
import { TypedClient } from "../support/relay/typed_client.ts";

Deno.test("a reply that cannot be carried ends its session with a fault in the log, and no other session", async () => {
  const certificate = await createCertificate();
  const faults: string[] = [];
  const origin = "quic://localhost:4433";
  const relay = await openTestRelay({
    certificate,
    config: { origins: [origin] },
    onEvent: (event) => void (event.event === "fault" && faults.push(event.where)),
  });
  using fetching = connectTransport(relay.grpcPort, certificate.cert);
  const open = (): Promise<TypedClient> => Promise.resolve(new TypedClient(fetching.transport));
  const honest = await TestAgent.connect({ open, origin });
  const client = await open();
  const hostile = new TestAgent({ open, origin }, client, crypto.randomUUID());
  // No reply can tell this time; these relays believe every token.
  const failed = await assertRejects(
    () => hostile.authenticate(client, `${hostile.account} Infinity`),
    CallFailed,
  );
  assertEquals([failed.code, faults], ["internal", ["reply"]]);
  await honest.client.call("Ping", {});
  honest.client.close();
  await relay.close();
});
