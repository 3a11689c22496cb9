/** Commits and foundings of a channel, as those are told of them that follow. */
import type { AgentId, RejoinStatement } from "../../../proto/mod.ts";
import type { CommitSummary } from "../../mls/members.ts";
import type { CommitRules, ReceiveOutcome } from "../../mls/receive.ts";
import type { Sealing } from "../../mls/sealing_rules.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { OwnCommit } from "../reading/log_place.ts";
import type { KeptCommit } from "./signed_commit.ts";

/** The signed statement of a member that wants to come back. */
export type RejoinClaim = Omit<RejoinStatement, "channelId"> & {
  readonly signature: Uint8Array;
  /** The key of the KeyPackage with which the member wants to come back. */
  readonly signatureKey: Uint8Array;
};

export type FollowVerdict =
  | ReceiveOutcome
  /** The relay took the signature away: as good as not delivered. */
  | { readonly kind: "unsigned" }
  /** The relay's statement about it differs from its sender's: the relay lies. */
  | { readonly kind: "misattributed" }
  /** The sender signed the commit for a group of this epoch with other keys than ours. */
  | { readonly kind: "forked" };

/** A commit whose sender signed it for our group. */
export interface FollowableCommit {
  readonly kind: "follow";
  readonly rules: CommitRules;
  readonly place: Omit<CommitPlace, "removed" | "silenced">;
}

/** A commit that the group has followed, and its place in the log. */
export interface CommitPlace extends Pick<CommitSummary, "removed"> {
  /** Members whose messages are not shown any more from it on. */
  readonly silenced: readonly AgentId[];
  readonly own: boolean;
  readonly sequence: number;
  /** Which it ended. */
  readonly epoch: number;
  readonly hash: Uint8Array;
  /** As its author signed it; undefined for a founding of ours. */
  readonly signed: KeptCommit | undefined;
  /**
   * A generation that this agent began; the commit stands then for what it did to the one before.
   */
  readonly founded?: OwnCommit;
}

/** The member that began a generation, and the place in the log. */
export interface GenerationFounder {
  readonly founder: AgentId;
  /** The sender of the commit that nobody could follow. */
  readonly blamed: AgentId;
  /** The members that the founding leaves out beside the blamed one. */
  readonly without: readonly AgentId[];
  readonly sequence: number;
}

/** The generation before. */
export interface FormerGeneration {
  readonly sealing: Sealing | undefined;
  readonly epoch: number;
  readonly members: readonly AgentId[];
  readonly owners: readonly AgentId[];
}

/** Returns further changes to write together with a commit. */
export type CommitListener = (commit: CommitPlace) => readonly RecordChange[];
