/**
 * Fifty members commit at the same moment, each until it was first: of every epoch one commit is
 * taken, and all see the same ones.
 */
import { assertEquals } from "@std/assert";
import type { ChannelId } from "../../proto/mod.ts";
import { type Relay, TestAgent } from "../support/relay/agent.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { CallFailed } from "../support/relay/relay_client.ts";
import { startTestRelay, testOrigin } from "../support/relay/test_relay.ts";

const members = 50;

/** Returns the epoch that its commit ended. */
async function commitUntilTaken(agent: TestAgent, channelId: ChannelId): Promise<number> {
  for (let epoch = 1;;) {
    try {
      await agent.client.call("SendCommit", agent.commit(channelId, epoch));
      return epoch;
    } catch (error) {
      if (
        !(error instanceof CallFailed) || error.code !== "epoch_conflict" ||
        error.epoch === undefined
      ) throw error;
      epoch = error.epoch;
    }
  }
}

Deno.test("of fifty commits at once in every epoch one is taken, and all members see the same fifty in one order", async () => {
  await using relay = await startTestRelay();
  const target: Relay = {
    origin: testOrigin,
    open: () => openQuic(relay.edge.quicPort, relay.certificate.cert),
  };
  const account = crypto.randomUUID();
  const agents = await Promise.all(
    Array.from({ length: members }, () => TestAgent.connect(target, account)),
  );
  const [creator, ...others] = agents;
  if (creator === undefined) throw new Error("Nobody");
  const channelId = await creator.createChannel();
  const added = others.map(({ agentId }) => agentId);
  await creator.client.call("SendCommit", creator.commit(channelId, 0, { added }));
  for (const agent of agents) await agent.subscribe(channelId, { after: 1 });
  const epochs = await Promise.all(agents.map((agent) => commitUntilTaken(agent, channelId)));
  const all = Array.from({ length: members }, (_, index) => index + 1);
  assertEquals(epochs.toSorted((a, b) => a - b), all);
  const taken = new Map<number, string>();
  for (const [index, { client }] of agents.entries()) {
    // Nobody is delivered its own.
    const commits = await client.notices.first("DeliverCommit", members - 1);
    assertEquals(commits.map(({ epoch }) => epoch), all.filter((epoch) => epoch !== epochs[index]));
    for (const { epoch, commit } of commits) {
      assertEquals(taken.get(epoch) ?? commit.toHex(), commit.toHex(), `epoch ${epoch}`);
      taken.set(epoch, commit.toHex());
    }
  }
  for (const { client } of agents) client.close();
});
