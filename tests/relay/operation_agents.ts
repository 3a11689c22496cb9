/** Agents of the operations suite, and how their calls fail. */
import type { ChannelId } from "../../proto/mod.ts";
import { freshName, randomId16, type Relay, TestAgent } from "../support/relay/agent.ts";
import { CallFailed } from "../support/relay/relay_client.ts";
import { check, sameBytes } from "../support/runtime/suite.ts";

/** Two members in a channel at epoch 1, added the usual way; both read. */
export async function createPair(relay: Relay): Promise<
  { alice: TestAgent; bob: TestAgent; channelId: ChannelId; name: ReturnType<typeof freshName> }
> {
  const [alice, bob] = await Promise.all([TestAgent.connect(relay), TestAgent.connect(relay)]);
  const name = freshName();
  const { channelId } = await alice.client.call("CreateChannel", { name, nonce: randomId16() });
  const keyPackage = bob.keyPackage();
  await bob.client.call("UploadKeyPackage", { keyPackages: [keyPackage], replace: false });
  const claim = { channelId, agentId: bob.agentId, nonce: randomId16() };
  const claimed = await alice.client.call("AddMember", claim);
  sameBytes(claimed.keyPackage, keyPackage, "the claimed KeyPackage");
  const commit = alice.commit(channelId, 0, { added: [bob.agentId] });
  const { sequence, epoch } = await alice.client.call("SendCommit", commit);
  check(epoch === 1, "the commit began another epoch");
  const [welcome] = await bob.client.notices.first("DeliverWelcome", 1);
  sameBytes(welcome?.welcome, commit.welcomes[0]?.welcome ?? new Uint8Array(0), "the Welcome");
  check(
    welcome?.joinedSequence === sequence && welcome.name === name,
    "the Welcome is of another commit or channel",
  );
  await bob.acknowledge(channelId, sequence);
  await alice.subscribe(channelId);
  await bob.subscribe(channelId);
  return { alice, bob, channelId, name };
}

export async function failure(call: Promise<unknown>): Promise<CallFailed> {
  try {
    await call;
  } catch (error) {
    if (error instanceof CallFailed) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

export function closeAll(...agents: readonly TestAgent[]): void {
  for (const { client } of agents) client.close();
}
