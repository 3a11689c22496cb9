/**
 * The state of reading a channel's log: the entry that is being read, the place in the log, and
 * what has to be remembered of those that were read. It is plain data, and `stepReading` alone
 * changes it. Opening a message and following a commit are work with keys: jobs outside, whose ends
 * are events.
 */
import type { AgentId, MessageAad, NoticeBody, NoticeEnvelope } from "../../../proto/mod.ts";
import type { FindCommitReply } from "../connection/link_state.ts";
import type { Permit } from "../connection/permit.ts";
import type { FoundingVerdict } from "../recovery/following.ts";
import type { Landmarks } from "../records.ts";
import type { CounterVerdict, MessageCounter } from "./senders.ts";
import type { MembershipEndings } from "./endings.ts";
import { type FetchBudget, newBudget } from "./fetch_budget.ts";
import { type LogPlace, type LogPosition, newPlace, type OwnCommit, placeOf } from "./log_place.ts";

/** An entry of the log, or the relay's word that some are missing there. */
export type LogEntry = Extract<
  NoticeEnvelope,
  {
    operation:
      | "DeliverMessage"
      | "DeliverCommit"
      | "DeliverLeave"
      | "DeliverLapse"
      | "DeliverGap"
      | "DeliverFounding";
  }
>;
export type MessageBody = NoticeBody<"DeliverMessage">;
export type CommitBody = NoticeBody<"DeliverCommit">;
/** A statement about a member. */
export type MemberStatement = Extract<LogEntry, { operation: "DeliverLeave" | "DeliverLapse" }>;
/** An entry that says in which epoch it was made. */
export type DatedEntry = MessageEntry | CommitEntry;
export type MessageEntry = Extract<LogEntry, { operation: "DeliverMessage" }>;
export type CommitEntry = Extract<LogEntry, { operation: "DeliverCommit" }>;

/** The entry that is being read. An end whose number it does not hold changes nothing. */
export type ReadingStage =
  /** No entry is being read. */
  | { readonly at: "none" }
  /** A commit of ours may be why it cannot be read: the log is asked about ours. */
  | { readonly at: "explaining"; readonly job: number; readonly held: HeldEntry }
  /** A message, with the group's keys. */
  | { readonly at: "opening"; readonly job: number; readonly body: MessageBody }
  /** A message that is passed over, without using its key. */
  | { readonly at: "looking_ahead"; readonly job: number; readonly body: MessageBody }
  /** A commit, with the group's keys and the disk. */
  | { readonly at: "following"; readonly job: number; readonly entry: CommitEntry }
  /** Asks for the commit that the log holds of an epoch. */
  | { readonly at: "asking"; readonly job: number; readonly question: LogQuestion }
  /**
   * A statement: its signature is looked at, and it is written down. `isBehind`: it stands behind
   * our stop.
   */
  | {
    readonly at: "noting";
    readonly job: number;
    readonly entry: MemberStatement;
    readonly isBehind: boolean;
  }
  /** A founding that is not forged: whether we enter it is decided by the place. */
  | { readonly at: "entering"; readonly job: number }
  /** We are out of step: the log is asked why. The finding does not depend on the answer. */
  | {
    readonly at: "explaining_fork";
    readonly job: number;
    readonly last: FollowedCommit;
    readonly finding: ReadingFinding;
  };

/** An entry that waits to hear what became of a commit of ours. */
export type HeldEntry =
  | { readonly why: "ahead"; readonly entry: DatedEntry }
  | { readonly why: "not_followed"; readonly entry: CommitEntry; readonly as: FollowFailure }
  | { readonly why: "statement"; readonly entry: MemberStatement };

export type LogQuestion =
  /** An entry of an epoch that has not begun: is a commit withheld? */
  | { readonly about: "ahead"; readonly entry: DatedEntry; readonly epoch: number }
  /** Somebody's commit in an epoch that one of ours has ended. */
  | { readonly about: "contradicted"; readonly body: CommitBody; readonly ours: Uint8Array }
  /** A commit that its sender did not sign so: was the one before it another one? */
  | {
    readonly about: "misattributed";
    readonly body: CommitBody;
    readonly epoch: number;
    readonly before: Uint8Array;
  };

/** A commit that the group has followed. */
export interface FollowedCommit {
  readonly epoch: number;
  readonly hash: Uint8Array;
}

export interface ReadingState {
  reading: ReadingStage;
  readonly place: LogPlace;
  endings: MembershipEndings;
  /** Messages from here on were passed over because the inbox was full. */
  passedOver: { readonly sequence: number; readonly epoch: number } | undefined;
  /** The highest counters of messages that were passed over, as their headers say. */
  passedCounters: Record<AgentId, number>;
  /** Messages that are passed over were looked at up to here; 0 for none. */
  lookedThrough: number;
  /** The entry for which the log was last fetched again: once is enough. */
  fetchedFor: number | undefined;
  /** The log was not where we left it: up to here it may hold what we have read before. */
  againUntil: number;
  readonly budget: FetchBudget;
  /** The last followed commit, by which a fork can be told. */
  last: FollowedCommit | undefined;
  /** The last number that was given to a job. */
  numbers: number;
}

/**
 * Everything of it that is on disk. `position` is undefined when the relay knows better: just
 * joined.
 */
export interface ReadingRecords {
  readonly position: LogPosition | undefined;
  readonly landmarks: Landmarks;
  readonly joinedEpoch: number;
}

/** In the clear, with a message. */
export interface MessageHeader {
  readonly epoch: number;
  readonly authenticatedData: Uint8Array;
}

/** Knowledge of the other rooms at the moment of a step. */
export interface ReadingFacts {
  readonly agentId: AgentId;
  readonly nowMs: number;
  /** The epoch of our group. */
  readonly epoch: number;
  /** The hash of the commit that began our epoch, if it is known. */
  readonly began: Uint8Array | undefined;
  /** The place of the commit at which we are stopped. */
  readonly stop: number | undefined;
  /** The earliest generation that we refuse. */
  readonly foreign: number | undefined;
  /** The position that is on disk. */
  readonly durable: number;
  /** The oldest message that the program is not done with. */
  readonly oldest: { readonly sequence: number; readonly epoch: number } | undefined;
  /** No message is to be kept for a loop, as long as there is no room. */
  readonly isFull: boolean;
  /** Somebody reads messages. */
  readonly isRead: boolean;
  readonly unread: number;
  readonly headerOf: (body: MessageBody | CommitBody) => MessageHeader | undefined;
  readonly aadOf: (header: MessageHeader) => MessageAad | undefined;
  /** Judges a message by the counters of its sender. */
  readonly judge: (sender: AgentId, counted: MessageCounter) => CounterVerdict;
  /**
   * The highest counter of a sender that has arrived in the membership that the epoch belongs to.
   */
  readonly highest: (sender: AgentId, epoch: number) => number;
  /** A commit of ours that may be taken adds this agent. */
  readonly adds: (agentId: AgentId) => boolean;
  readonly hasLeaf: (agentId: AgentId) => boolean;
  readonly judgeFounding: (body: NoticeBody<"DeliverFounding">) => FoundingVerdict;
  /** We have entered this founding, or may have: nothing is known of a generation before ours. */
  readonly isEntered: (body: NoticeBody<"DeliverFounding">) => boolean;
  readonly hashOf: (commit: Uint8Array) => Uint8Array;
}

/** The end of work with a message. */
export interface OpeningOutcome {
  readonly kind: string;
  readonly reason?: string;
}

export type FollowFailure =
  /** The sender signed the commit for a group of this epoch with other keys than ours. */
  | { readonly kind: "forked" }
  /** The commit claims to be ours. */
  | { readonly kind: "own" }
  | { readonly kind: "refused"; readonly reason: string };

/** The end of work with a commit. */
export type FollowOutcome =
  /** Everything of it is on disk. `epoch` is the new one. */
  | { readonly kind: "commit"; readonly epoch: number }
  | { readonly kind: "removed"; readonly isAgain: boolean }
  | { readonly kind: "unsigned" }
  /** The relay's statement about it differs from its sender's, or it is no commit. */
  | { readonly kind: "misattributed" }
  | FollowFailure;

export type FinishedReadingJob = Extract<ReadingEvent, { readonly job: number }>;

export type ReadingEvent =
  /** The connection gives the next entry. Without a permit no founding is entered. */
  | { readonly type: "entry"; readonly entry: LogEntry; readonly permit: Permit | undefined }
  /** Says what became of our own commits. `unknown`: the log could not be asked. */
  | {
    readonly type: "explained";
    readonly job: number;
    readonly as: "settled" | "not_ours" | "unknown";
  }
  /** Work with a message has ended. */
  | { readonly type: "opened"; readonly job: number; readonly as: OpeningOutcome }
  /** Work with a commit has ended. */
  | { readonly type: "followed"; readonly job: number; readonly as: FollowOutcome }
  /** The log has answered which commit it holds of an epoch. */
  | { readonly type: "found"; readonly job: number; readonly found: FindCommitReply }
  /** The log was asked, and did not answer. */
  | { readonly type: "unheard"; readonly job: number }
  /** `worth` of a leave. */
  | { readonly type: "noted"; readonly job: number; readonly worth?: "taken" | "void" | "unsigned" }
  /** Looking ahead at a message, or entering a founding, has ended. */
  | { readonly type: "done"; readonly job: number }
  /** The group has followed a commit, or entered a founding: nothing of it is written yet. */
  | { readonly type: "moved"; readonly by: EpochMove }
  /** Where the relay says that we are, and where the log ends. */
  | { readonly type: "begins"; readonly after: number; readonly head: number }
  /** The relay's log is not where we left it: it says where to go on. */
  | { readonly type: "lost" }
  /** There is room for messages again. */
  | { readonly type: "room" }
  /**
   * A generation that our group is in begins behind this entry; what stood before it and was not
   * read is passed over.
   */
  | { readonly type: "founded"; readonly sequence: number; readonly epoch: number }
  /** A new membership, which begins behind this entry, in this epoch. */
  | { readonly type: "restarted"; readonly received: number; readonly epoch: number };

/** A commit, or a founding, and its place in the log. */
export interface EpochMove {
  readonly isOwn: boolean;
  readonly sequence: number;
  /** Which it ended. */
  readonly epoch: number;
  /** Undefined for a founding. */
  readonly hash: Uint8Array | undefined;
  /** The members whose messages are not shown any more from this landmark on. */
  readonly silent: readonly AgentId[];
  /** A founding of ours, which the relay does not deliver to us. */
  readonly founded: OwnCommit | undefined;
}

/**
 * An effect with a `job` ends with an event that has the job's number, and is the last of its step.
 */
export type ReadingEffect =
  | { readonly type: "open"; readonly job: number }
  | {
    readonly type: "explain" | "look_ahead" | "follow" | "note_leave" | "note_lapse";
    readonly job: number;
  }
  | { readonly type: "find"; readonly job: number; readonly epoch: number }
  | {
    readonly type: "enter";
    readonly job: number;
    readonly verdict: Exclude<FoundingVerdict, { kind: "forged" }>;
  }
  /** The message that was opened is for the inbox. */
  | { readonly type: "take" }
  /** The message's key was used before: perhaps its sender is at fault. */
  | { readonly type: "repeated" }
  /** Nothing that was looked at ahead will come again, or all of it is looked at anew. */
  | { readonly type: "forget_ahead" }
  /** The place has moved on; it is written soon. */
  | { readonly type: "passed"; readonly isLandmark: boolean }
  | {
    readonly type: "report";
    readonly kind: ReportKind;
    readonly text: string;
    readonly about?: string;
  }
  | { readonly type: "unreadable"; readonly sender: AgentId; readonly reason: string }
  | {
    readonly type: "gap";
    readonly messages: number;
    readonly reason: NoticeBody<"DeliverGap">["reason"];
  }
  | { readonly type: "finding"; readonly finding: ReadingFinding };

export type ReportKind =
  | "relay_lied"
  | "withheld_commit"
  | "undecryptable"
  | "unread_messages"
  | "void_leave";

/** Findings for the rooms around. */
export type ReadingFinding =
  /** The log is read again from where the reader is, not before this time. */
  | { readonly is: "fetch"; readonly afterMs: number }
  /** Our group is not the log's. `isNamed`: members are asked by name. */
  | { readonly is: "out_of_step"; readonly reason: string; readonly isNamed?: boolean }
  /** Nobody can follow this commit: a member's fault, provably. */
  | { readonly is: "stopped"; readonly body: CommitBody; readonly reason: string }
  /** `isAgain`: it adds us, too. */
  | { readonly is: "removed"; readonly body: CommitBody; readonly isAgain: boolean }
  /** A generation has begun that may not be entered without a permit. */
  | { readonly is: "hold" }
  /** An entry behind the stop, or the stop itself. */
  | { readonly is: "stop_read"; readonly isStop: boolean }
  /** A message behind the stop: nobody reads it. */
  | { readonly is: "behind_stop"; readonly sequence: number }
  /** A member said that it leaves. `isPresent`: about its present leaf. */
  | { readonly is: "leaves"; readonly agentId: AgentId; readonly isPresent: boolean };

export interface ReadingStep {
  /** The landmarks go with the write of the move. */
  readonly isLandmark: boolean;
  readonly effects: readonly ReadingEffect[];
}

export const notReading: ReadingStage = Object.freeze({ at: "none" });

/** Restores the reading of a process that starts. */
export function restoreReading(
  { position, landmarks, joinedEpoch }: ReadingRecords,
  nowMs: number,
): ReadingState {
  const epoch = position === undefined ? joinedEpoch : position.epoch;
  return {
    reading: notReading,
    place: newPlace(position?.sequence, epoch, landmarks.ownCommits),
    endings: landmarks.endings,
    passedOver: undefined,
    passedCounters: {},
    lookedThrough: 0,
    fetchedFor: undefined,
    againUntil: 0,
    budget: newBudget(nowMs),
    last: undefined,
    numbers: 0,
  };
}

export function landmarksOf({ place, endings }: ReadingState): Landmarks {
  return { ownCommits: place.own, endings };
}

/** The program is done with everything up to here. */
export function positionOf(
  { place, passedOver }: ReadingState,
  { oldest }: Pick<ReadingFacts, "oldest">,
): LogPosition {
  const next = oldest ?? passedOver;
  const reached = placeOf(place);
  if (next === undefined || next.sequence > reached.sequence) return reached;
  // The oldest unprocessed entry has the log's epoch at its place; an unknown epoch stays unknown.
  return {
    sequence: next.sequence - 1,
    epoch: reached.epoch === undefined ? undefined : next.epoch,
  };
}

/** Keys of epochs before this one are of no use any more. */
export function oldestEpochOf(
  { place, passedOver }: ReadingState,
  { oldest, epoch }: Pick<ReadingFacts, "oldest" | "epoch">,
): number {
  return oldest?.epoch ?? passedOver?.epoch ?? Math.min(place.epoch, epoch);
}
