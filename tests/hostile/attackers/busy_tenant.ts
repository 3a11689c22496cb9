/** Tenants with good tokens that ask for as much work as they can: KeyPackages to verify, channels to list, messages to store. */
import { attack } from "../../support/hostile/attack.ts";
import { type Answers, connectTenants, counted, type TenantOrder } from "../../support/hostile/tenant.ts";
import type { TestAgent } from "../../support/relay/agent.ts";

export interface BusyOrder extends TenantOrder {
  readonly work: "uploads" | "lists" | "messages";
}

export interface BusyReport {
  readonly answers: Answers;
}

const keyPackages = 100;
const channels = 50;
/** Requests of one kind that each tenant has under way. */
const atOnce = { uploads: 8, lists: 8, messages: 200 };

await attack<BusyOrder, BusyReport>(async (order, stop) => {
  const answers: Answers = {};
  const again = async (call: () => Promise<unknown>): Promise<void> => {
    while (!stop.aborted) await counted(answers, call());
  };
  const begin = async (agent: TestAgent): Promise<() => Promise<unknown>> => {
    if (order.work === "uploads") {
      const body = { keyPackages: Array.from({ length: keyPackages }, () => agent.keyPackage()), replace: true };
      return () => agent.client.call("UploadKeyPackage", body);
    }
    if (order.work === "lists") {
      for (let i = 0; i < channels; i++) await agent.createChannel();
      return () => agent.client.call("ListChannels", { limit: channels });
    }
    const channelId = await agent.createChannel();
    return () => agent.send(channelId, 0);
  };
  const agents = await connectTenants(order);
  await Promise.all(agents.map(async (agent) => {
    const call = await begin(agent);
    await Promise.all(Array.from({ length: atOnce[order.work] }, () => again(call)));
  }));
  return { answers };
});
