/** The words by which this agent leaves, about one leaf of its own. */
import { type ChannelId, leaveStatement, type RequestBody } from "../../../proto/mod.ts";
import type { ChannelDeps } from "../deps.ts";

type LeaveSigner = Pick<ChannelDeps, "agentId" | "signatures" | "identity">;

/** The statement about this leaf of ours. */
export function leaveBody(
  { channelId, groupId, leafHash }: {
    readonly channelId: ChannelId;
    readonly groupId: ChannelId;
    readonly leafHash: Uint8Array;
  },
  { agentId, signatures, identity }: LeaveSigner,
): Omit<RequestBody<"LeaveChannel">, "joinedSequence"> {
  const statement = leaveStatement({ channelId: groupId, agentId, leafHash });
  const signature = signatures.sign(identity.signingSeed, statement);
  return { channelId, leafHash, signature };
}
