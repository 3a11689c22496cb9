/**
 * A tenant that claims every KeyPackage of one agent, and then adds it to channels that it never
 * asked for.
 */
import type { AgentId, ChannelId } from "../../../proto/mod.ts";
import { attack } from "../../support/hostile/attack.ts";
import {
  type Answers,
  connectTenants,
  counted,
  type TenantOrder,
} from "../../support/hostile/tenant.ts";
import { createWelcome } from "../../support/mls.ts";
import { randomId16, type TestAgent } from "../../support/relay/agent.ts";

export interface DrainerOrder extends TenantOrder {
  readonly victim: AgentId;
}

export interface DrainerReport {
  /** KeyPackages that can be used once. */
  readonly drained: number;
  /** Of Welcomes that now wait for the victim. */
  readonly queuedBytes: number;
  readonly answers: Answers;
}

const claims = 150;
const welcomeBytes = 500 * 1024;

await attack<DrainerOrder, DrainerReport>(async (order, stop) => {
  const answers: Answers = {};
  let [drained, queuedBytes] = [0, 0];
  const drain = async (agent: TestAgent, channelId: ChannelId): Promise<void> => {
    for (let i = 0; i < claims && !stop.aborted; i++) {
      const claim = { channelId, agentId: order.victim, nonce: randomId16() };
      const reply = await counted(answers, agent.client.call("AddMember", claim));
      if (reply?.lastResort === false) drained++;
    }
  };
  const queue = async (agent: TestAgent): Promise<void> => {
    while (!stop.aborted) {
      const channelId = await agent.createChannel();
      const welcome = createWelcome(1, welcomeBytes);
      const welcomes = [{ recipients: [order.victim], welcome }];
      const commit = agent.commit(channelId, 0, { added: [order.victim], welcomes });
      if (await counted(answers, agent.client.call("SendCommit", commit)) !== undefined) {
        queuedBytes += welcome.length;
      }
    }
  };
  const agents = await connectTenants(order);
  await Promise.all(agents.map(async (agent) => drain(agent, await agent.createChannel())));
  await Promise.all(agents.map((agent) => queue(agent).catch(() => {})));
  return { drained, queuedBytes, answers };
});
