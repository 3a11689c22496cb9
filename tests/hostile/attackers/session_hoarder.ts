/**
 * Tenants that log in as one agent after the other and keep every session open: with typed calls
 * that lie idle, and over QUIC with a subscription to a channel of their own, so that they look
 * useful.
 */
import { attack } from "../../support/hostile/attack.ts";
import { type Answers, counted, type TenantOrder } from "../../support/hostile/tenant.ts";
import { TestAgent } from "../../support/relay/agent.ts";
import { connectTransport, openQuic } from "../../support/relay/deno_clients.ts";
import type { RelayClient } from "../../support/relay/relay_client.ts";
import { TypedClient } from "../../support/relay/typed_client.ts";

export interface HoarderOrder extends TenantOrder {
  readonly grpcPort: number;
  readonly addresses: readonly string[];
}

export interface HoarderReport {
  readonly answers: Answers;
}

/** Those that subscribe, each with another account first. */
const readers = [0, 1, 2];

async function subscribed(agent: TestAgent, token: string): Promise<void> {
  await agent.authenticate(agent.client, token);
  await agent.subscribe(await agent.createChannel(), { windowBytes: 1 << 20 });
}

await attack<HoarderOrder, HoarderReport>(
  async ({ quicPort, grpcPort, ca, tenants, addresses }, stop) => {
    const answers: Answers = {};
    const origin = `quic://localhost:${quicPort}`;
    const hoard = async (localAddress: string): Promise<void> => {
      using calls = connectTransport(grpcPort, ca, localAddress);
      for (let i = 0; !stop.aborted; i++) {
        const tenant = tenants[i % tenants.length];
        if (tenant === undefined) return;
        const typed = new TypedClient(calls.transport);
        const agent = new TestAgent(
          { open: () => Promise.resolve(typed), origin },
          typed,
          tenant.account,
        );
        await counted(answers, agent.authenticate(typed, tenant.token));
      }
    };
    const hoardReading = async (number: number): Promise<void> => {
      for (let i = number; !stop.aborted; i++) {
        const tenant = tenants[i % tenants.length];
        if (tenant === undefined) return;
        const open = (): Promise<RelayClient> => openQuic(quicPort, ca);
        await counted(
          answers,
          subscribed(new TestAgent({ open, origin }, await open(), tenant.account), tenant.token),
        );
      }
    };
    await Promise.all([...addresses.map(hoard), ...readers.map(hoardReading)]);
    return { answers };
  },
);
