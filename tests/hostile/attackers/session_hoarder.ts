/** Tenants that log in as one agent after the other, keep every session open and use none of them. */
import { attack } from "../../support/hostile/attack.ts";
import { type Answers, counted, type TenantOrder } from "../../support/hostile/tenant.ts";
import { TestAgent } from "../../support/relay/agent.ts";
import { connectTransport } from "../../support/relay/deno_clients.ts";
import { TypedClient } from "../../support/relay/typed_client.ts";

export interface HoarderOrder extends TenantOrder {
  readonly grpcPort: number;
  readonly addresses: readonly string[];
}

export interface HoarderReport {
  readonly answers: Answers;
}

await attack<HoarderOrder, HoarderReport>(async ({ quicPort, grpcPort, ca, tenants, addresses }, stop) => {
  const answers: Answers = {};
  const origin = `quic://localhost:${quicPort}`;
  const hoard = async (localAddress: string): Promise<void> => {
    using calls = connectTransport(grpcPort, ca, localAddress);
    for (let i = 0; !stop.aborted; i++) {
      const tenant = tenants[i % tenants.length];
      if (tenant === undefined) return;
      const typed = new TypedClient(calls.transport);
      const agent = new TestAgent({ open: () => Promise.resolve(typed), origin }, typed, tenant.account);
      await counted(answers, agent.authenticate(typed, tenant.token));
    }
  };
  await Promise.all(addresses.map(hoard));
  return { answers };
});
