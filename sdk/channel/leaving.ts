/** Telling the relay that we go. The others remove us from the group when they hear of it. */
import { leaveStatement } from "../../proto/mod.ts";
import { isCode } from "../faults.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Membership } from "./membership.ts";

const maxTries = 5;

/** Whoever is alone closes the channel: nobody would be left to remove it. */
export async function sayGoodbye(membership: Membership, deps: ChannelDeps): Promise<void> {
  const { channelId } = membership;
  try {
    if (membership.group.members().length === 1) await deps.session.call("CloseChannel", { channelId });
    else await leaveAt(membership.epoch, maxTries, membership, deps);
  } catch (error) {
    if (!isCode(error, "not_found")) throw error; // the relay had forgotten us already
  }
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
