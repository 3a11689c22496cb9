/**
 * The statement of a commit's sender: the same bytes for the relay, for every member, and for the
 * reader of a proof.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type ChannelId,
  type CommitStatement,
  commitStatement,
  type NoticeBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { credentialOf } from "../../mls/leaf.ts";
import type { Leaf } from "../../mls/ratchet_tree.ts";

export interface SignedCommit {
  readonly declared: CommitStatement;
  readonly signature: Uint8Array;
}

/** Undefined when the relay took something of it away. */
export function signedCommitOf(
  channelId: ChannelId,
  entry: NoticeBody<"DeliverCommit">,
): SignedCommit | undefined {
  const { signature, state, nextState, generation, epoch, added, removed, owners } = entry;
  if (signature === undefined || state === undefined || nextState === undefined) return undefined;
  const lists = { added, removed, owners: owners?.agentIds };
  const declared = {
    channelId,
    generation,
    epoch,
    commitHash: sha256(entry.commit),
    ...lists,
    state,
    nextState,
  };
  return { declared, signature };
}

/**
 * With its author when that is another agent, and without what was of use once: Welcomes, requests
 * that it answered.
 */
export type KeptCommit = RequestBody<"SendCommit">;

/** As another member can put it into the log again. */
export function keptCommitOf(
  { declared, signature }: SignedCommit,
  commit: Uint8Array,
  author?: Leaf,
): KeptCommit {
  const { channelId, generation, epoch, added, removed, owners, state, nextState } = declared;
  return {
    ...{ channelId, epoch, commit, generation, state, nextState, signature },
    added: [...added],
    removed: [...removed],
    welcomes: [],
    owners: owners && { agentIds: [...owners] },
    answers: [],
    author: author && credentialOf(author.node),
  };
}

export function signedBytesOf({ declared }: Pick<SignedCommit, "declared">): Uint8Array {
  return commitStatement(declared);
}
