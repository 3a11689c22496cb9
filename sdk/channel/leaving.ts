/** Telling the relay that we go. The others remove us from the group when they hear of it. */
import { leaveStatement } from "../../proto/mod.ts";
import { isCode } from "../base/errors.ts";
import type { Committer, Plan } from "./commits.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Membership } from "./membership.ts";

const maxTries = 5;

export async function sayGoodbye(
  membership: Membership,
  committer: Committer | undefined,
  deps: ChannelDeps,
): Promise<void> {
  try {
    if (membership.group.members().length === 1 && await close(membership, deps)) return;
    await committer?.commit(() => successionPlan(membership));
    await leaveAt(membership.epoch, maxTries, membership, deps);
  } catch (error) {
    if (!isCode(error, "not_found")) throw error; // the relay had forgotten us already
  }
}

/** Whoever is alone closes the channel, if it may: nobody would be left to remove it. */
async function close({ channelId }: Membership, { session }: ChannelDeps): Promise<boolean> {
  try {
    await session.call("CloseChannel", { channelId });
    return true;
  } catch (error) {
    if (isCode(error, "not_allowed")) return false;
    throw error;
  }
}

/** A channel has an owner: the only one makes the member with the lowest leaf another before it goes. */
function successionPlan({ group }: Membership): Plan | undefined {
  const { self } = group;
  const others = group.members().filter(({ agentId }) => agentId !== self.agentId);
  const [successor] = others.sort((a, b) => a.leafIndex - b.leafIndex);
  if (!self.owner || successor === undefined || others.some(({ owner }) => owner)) return undefined;
  return { change: { owners: [self.agentId, successor.agentId] } };
}

/** The statement names the relay's current epoch; our own may be behind, or stuck, which must not keep anybody in. */
async function leaveAt(epoch: number, tries: number, membership: Membership, deps: ChannelDeps): Promise<void> {
  const { channelId } = membership;
  const { agentId, signatures, identity, session } = deps;
  const signature = await signatures.sign(identity.signingSeed, leaveStatement({ channelId, agentId, epoch }));
  try {
    await session.call("LeaveChannel", { channelId, epoch, signature });
  } catch (error) {
    if (!isCode(error, "epoch_conflict") || error.epoch === undefined || tries === 1) throw error;
    await leaveAt(error.epoch, tries - 1, membership, deps);
  }
}
