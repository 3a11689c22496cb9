/**
 * Tenants with good tokens that ask for as much work as they can: KeyPackages to verify, channels
 * to list, messages to store.
 */
import { attackPrepared } from "../../support/hostile/attack.ts";
import {
  type Answers,
  connectTenants,
  counted,
  type TenantOrder,
} from "../../support/hostile/tenant.ts";
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

type Request = () => Promise<unknown>;

async function prepare(agent: TestAgent, work: BusyOrder["work"]): Promise<Request> {
  if (work === "uploads") {
    const body = {
      keyPackages: Array.from({ length: keyPackages }, () => agent.keyPackage()),
      replace: true,
    };
    return () => agent.client.call("UploadKeyPackage", body);
  }
  if (work === "lists") {
    for (let i = 0; i < channels; i++) await agent.createChannel();
    return () => agent.client.call("ListChannels", { limit: channels });
  }
  const channelId = await agent.createChannel();
  return () => agent.send(channelId, 0);
}

await attackPrepared<BusyOrder, readonly Request[], BusyReport>(
  async (order) =>
    await Promise.all((await connectTenants(order)).map((agent) => prepare(agent, order.work))),
  async ({ work }, stop, requests) => {
    const answers: Answers = {};
    const again = async (request: Request): Promise<void> => {
      while (!stop.aborted) await counted(answers, request());
    };
    await Promise.all(
      requests.flatMap((request) => Array.from({ length: atOnce[work] }, () => again(request))),
    );
    return { answers };
  },
);
