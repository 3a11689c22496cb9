/** A tenant that stores whatever it likes in commits or Welcomes, for an agent that never comes. */
import { type AgentId, type ChannelId, encodeBase64url } from "../../../proto/mod.ts";
import { attack } from "../../support/hostile/attack.ts";
import {
  type Answers,
  connectTenants,
  counted,
  type TenantOrder,
} from "../../support/hostile/tenant.ts";
import { createWelcome } from "../../support/mls.ts";
import { freshName, randomId16, type TestAgent } from "../../support/relay/agent.ts";

export interface FillerOrder extends TenantOrder {
  readonly carrier: "commits" | "welcomes";
}

export interface FillerReport {
  /** Bytes that the relay took. */
  readonly bytes: number;
  readonly answers: Answers;
}

const commitBytes = 250 * 1024;
/** A Welcome of this many has twice as many. */
const welcomeBytes = 500 * 1024;
/** Channels that each tenant fills at once. */
const atOnce = 2;

await attack<FillerOrder, FillerReport>(async (order, stop) => {
  const answers: Answers = {};
  let bytes = 0;
  const nobody = encodeBase64url(crypto.getRandomValues(new Uint8Array(17))).slice(
    0,
    22,
  ) as AgentId; // cast: random
  const sendCommit = async (
    agent: TestAgent,
    channelId: ChannelId,
    epoch: number,
  ): Promise<number | undefined> => {
    const commit = agent.commit(channelId, epoch, {
      commit: agent.commitBytes(channelId, epoch, commitBytes),
      added: epoch === 0 ? [nobody] : [],
    });
    return await counted(answers, agent.client.call("SendCommit", commit)) && commitBytes;
  };
  const sendWelcome = async (
    agent: TestAgent,
    channelId: ChannelId,
    number: number,
  ): Promise<number | undefined> => {
    if (number === 0) {
      const added = agent.commit(channelId, 0, { added: [nobody] });
      return await counted(answers, agent.client.call("SendCommit", added)) && 0;
    }
    const welcome = createWelcome(1, welcomeBytes + number);
    const body = { channelId, epoch: 1, recipients: [nobody], welcome };
    return await counted(answers, agent.client.call("SendWelcome", body)) && welcome.length;
  };
  const send = order.carrier === "commits" ? sendCommit : sendWelcome;
  const fill = async (agent: TestAgent): Promise<void> => {
    while (!stop.aborted) {
      const name = { name: freshName(), nonce: randomId16() };
      const created = await counted(answers, agent.client.call("CreateChannel", name));
      for (let number = 0; created !== undefined && !stop.aborted; number++) {
        const taken = await send(agent, created.channelId, number);
        if (taken === undefined) break;
        bytes += taken;
      }
    }
  };
  const agents = await connectTenants(order);
  await Promise.all(agents.flatMap((agent) => Array.from({ length: atOnce }, () => fill(agent))));
  return { bytes, answers };
});
