/**
 * A commit that its sender signed and that this agent cannot follow: the channel is stopped at it.
 * Durable before it is told.
 */
import {
  type AgentId,
  agentIdOf,
  type ChannelId,
  type CommitStatement,
  generationOf,
  parseAgentId,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { MemberCredential } from "../../mls/leaf.ts";
import type { RecordChange } from "../../store/mod.ts";
import { type ChannelRecords, deleteRecord, fieldsOf, putRecord } from "../channel_kinds.ts";
import { signedBytesOf, type SignedCommit } from "../group/signed_commit.ts";

export interface BadCommit extends SignedCommit {
  /** Place in the log. */
  readonly sequence: number;
  /** The credential of its sender, as the sender's leaf has it. */
  readonly sender: MemberCredential;
  /** Why it cannot be followed. */
  readonly reason: string;
  /** When this agent found out, by its own clock. */
  readonly sinceMs: number;
}

export type CommitProof = RequestBody<"FoundGeneration">["proof"];

export function blamedOf({ sender }: Pick<BadCommit, "sender">): AgentId {
  return agentIdOf(sender.signatureKey, sender.identity);
}

/** Returns a proof that anybody can check: the sender's own signature over the commit. */
export function proofOf({ sender, declared, signature }: BadCommit): CommitProof {
  const { added, removed, owners, state, nextState } = declared;
  return {
    ...sender,
    added: [...added],
    removed: [...removed],
    ...(owners && { owners: { agentIds: [...owners] } }),
    state,
    nextState,
    signature,
  };
}

/** Returns the bytes that the blamed member signed, if the proof is about this commit. */
export function provenBytes(
  { signatureKey: _key, identity: _identity, owners, signature: _signature, ...declared }:
    CommitProof,
  commit: Pick<CommitStatement, "channelId" | "epoch" | "commitHash">,
): Uint8Array {
  const statement = {
    ...commit,
    ...declared,
    generation: generationOf(commit.epoch),
    owners: owners?.agentIds,
  };
  return signedBytesOf({ declared: statement });
}

export function putBadCommit(bad: BadCommit): RecordChange {
  const { declared, signature, sequence, sender, reason, sinceMs } = bad;
  const { channelId, generation, epoch, commitHash, added, removed, owners, state, nextState } =
    declared;
  const lists = [[...added], [...removed], owners === undefined ? null : [...owners]];
  return putRecord(channelId, "stopped", [
    ...[generation, epoch, commitHash, ...lists, state, nextState],
    ...[signature, sequence, sender.signatureKey, sender.identity, reason, sinceMs],
  ]);
}

export function deleteBadCommit(channelId: ChannelId): RecordChange {
  return deleteRecord(channelId, "stopped");
}

export function badCommitOf(channelId: ChannelId, records: ChannelRecords): BadCommit | undefined {
  const fields = fieldsOf(records, "stopped");
  if (fields === undefined) return undefined;
  const agents = (at: number): AgentId[] =>
    fields.list(at).map((agentId) => parseAgentId(String(agentId)));
  return {
    declared: {
      channelId,
      generation: fields.number(0),
      epoch: fields.number(1),
      commitHash: fields.bytes(2),
      added: agents(3),
      removed: agents(4),
      owners: fields.isNull(5) ? undefined : agents(5),
      state: fields.bytes(6),
      nextState: fields.bytes(7),
    },
    signature: fields.bytes(8),
    sequence: fields.number(9),
    sender: { signatureKey: fields.bytes(10), identity: fields.bytes(11) },
    reason: fields.text(12),
    sinceMs: fields.number(13),
  };
}

/** This agent is let in again after it was stopped. */
export function putReturn(channelId: ChannelId, atMs: number): RecordChange {
  return putRecord(channelId, "returned", [atMs]);
}

export function deleteReturn(channelId: ChannelId): RecordChange {
  return deleteRecord(channelId, "returned");
}

/** When it last was, by its own clock. */
export function returnOf(records: ChannelRecords): number | undefined {
  return fieldsOf(records, "returned")?.number(0);
}
