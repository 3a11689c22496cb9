/** What a commit's sender signed about it: the same bytes for the relay, for every member, and for whoever is shown a proof. */
import { sha256 } from "@noble/hashes/sha2.js";
import { type ChannelId, type CommitStatement, commitStatement, type NoticeBody } from "../../proto/mod.ts";

export interface SignedCommit {
  readonly declared: CommitStatement;
  readonly signature: Uint8Array;
}

/** Undefined for one from before senders signed their commits so, or when the relay took something of it away. */
export function signedCommitOf(channelId: ChannelId, entry: NoticeBody<"DeliverCommit">): SignedCommit | undefined {
  const { signature, state, nextState, generation, epoch, added, removed, owners } = entry;
  if (signature === undefined || state === undefined || nextState === undefined) return undefined;
  const lists = { added, removed, owners: owners?.agentIds };
  const declared = { channelId, generation, epoch, commitHash: sha256(entry.commit), ...lists, state, nextState };
  return { declared, signature };
}

export function signedBytesOf({ declared }: Pick<SignedCommit, "declared">): Uint8Array {
  return commitStatement(declared);
}
