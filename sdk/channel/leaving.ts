/** Telling the relay that we go. The others remove us from the group when they hear of it. */
import { type AgentId, leaveStatement } from "../../proto/mod.ts";
import { createError, isCode } from "../base/errors.ts";
import { leafHashOf } from "../mls/ratchet_tree.ts";
import type { Caretaker } from "./caretaker.ts";
import type { Committer, Plan } from "./commits.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Membership } from "./membership.ts";

export interface LeavingParts {
  readonly membership: Membership;
  readonly committer: Committer;
  readonly caretaker: Caretaker;
  /** It cannot commit any more; whoever is in it may still go. */
  readonly blocked: boolean;
}

/** If it fails, everything is as before, and leaving can be tried again. */
export async function sayGoodbye(parts: LeavingParts, deps: ChannelDeps): Promise<void> {
  const { membership, committer, caretaker, blocked } = parts;
  caretaker.stop();
  try {
    if (membership.group.members().length === 1 && await close(membership, deps)) return;
    if (!blocked) {
      await committer.commit(() => successionPlan(membership));
      // The statement is about our leaf: a commit that is taken after it would make it void.
      await committer.close();
    }
    await leave(membership, deps);
  } catch (error) {
    if (isCode(error, "not_found")) return; // the relay had forgotten us already
    committer.reopen();
    if (!blocked) caretaker.start();
    throw error;
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

/** A channel has an owner: the only one makes the member with the lowest leaf that stays another before it goes. */
function successionPlan({ group, leavers, lapsed }: Membership): Plan | undefined {
  const { self } = group;
  const others = group.members().filter(({ agentId }) => agentId !== self.agentId);
  const going = new Set([...leavers.map(({ agentId }) => agentId), ...lapsed]);
  const [successor] = others.filter(({ agentId }) => !going.has(agentId)).sort((a, b) => a.leafIndex - b.leafIndex);
  if (!self.owner || successor === undefined || others.some(({ owner, agentId }) => owner && !going.has(agentId))) {
    return undefined;
  }
  // The commit also removes those that have left.
  const stays = (agentId: AgentId): boolean => !leavers.some((leaver) => leaver.agentId === agentId);
  const owners = others.filter(({ owner, agentId }) => owner && stays(agentId)).map(({ agentId }) => agentId);
  return { change: { owners: [self.agentId, ...owners, successor.agentId] } };
}

async function leave({ channelId, group }: Membership, deps: ChannelDeps): Promise<void> {
  const { agentId, signatures, identity, session } = deps;
  const own = group.current.tree.leaf(group.current.ownLeaf);
  if (own === undefined) throw createError("mls_error", "Cannot leave: this agent is not in the channel's group");
  const leafHash = leafHashOf(own);
  const signature = await signatures.sign(identity.signingSeed, leaveStatement({ channelId, agentId, leafHash }));
  await session.call("LeaveChannel", { channelId, leafHash, signature });
}
