/**
 * The state of our own commits: the current one, commits that we have given up and that the relay
 * may still accept, and waiting plans. It is plain data; only `stepCommits` changes it. It names a
 * commit by its hash, because the bytes and the new epoch are on disk and in the group.
 */
import type { StaticError } from "../../base/errors.ts";
import type { FindCommitReply } from "../connection/link_state.ts";
import type { Permit } from "../connection/permit.ts";
import type { LeaveStage } from "../departure/stage.ts";

export interface CommitCandidate {
  /** In which it was made. */
  readonly epoch: number;
  readonly hash: Uint8Array;
  /** Agents that asked for it may have left since: it is not sent once more when it was open. */
  readonly adds: boolean;
  /** Nobody is left behind it that could let its author in. */
  readonly isLast: boolean;
  readonly removesLeavers: boolean;
}

interface SentCommit {
  readonly candidate: CommitCandidate;
  /** Copies, since it was made or was open. */
  readonly sends: number;
  /** The commit was open: no plan waits for it, and an earlier copy may be on its way. */
  readonly isAgain: boolean;
}

export type OwnCommitState =
  /** No commit of ours is under way. */
  | { readonly at: "none" }
  /** Keys are at work for the first plan. */
  | { readonly at: "preparing"; readonly job: number }
  /** The commit is on disk and on its way to the relay. */
  | ({ readonly at: "sent"; readonly call: number } & SentCommit)
  /** The log is asked what it holds of our epoch. */
  | ({ readonly at: "asking"; readonly next: MissingCommitStep } & SentCommit)
  /**
   * The log is asked the same before another commit is made, because some of this epoch were given
   * up.
   */
  | { readonly at: "checking" }
  /** Nobody knows whether the relay has it; the same bytes go again. */
  | { readonly at: "open"; readonly candidate: CommitCandidate }
  /** The group is moving to where it leads. */
  | { readonly at: "entering" }
  /**
   * Another commit was followed before it was known what became of these, of the same epoch. The
   * relay may have taken both.
   */
  | {
    readonly at: "overtaken";
    readonly call: number;
    readonly ours: readonly CommitCandidate[];
    readonly isAgain: boolean;
  }
  /** The first plan lost a race, and rests until our group is where the log is. */
  | {
    readonly at: "resting";
    readonly timer: number;
    readonly until: "epoch";
    readonly logEpoch: number;
  }
  /** The first plan lost a race, and makes a pause before it tries again. */
  | { readonly at: "resting"; readonly timer: number; readonly until: "pause" };

/** When the log does not hold it. `conflict`: the relay refused it, its log being in this epoch. */
export type MissingCommitStep = "send" | "give_up" | { readonly conflict: number };

export interface QueuedPlan<P> {
  readonly operation: number;
  readonly plan: P;
  attempts: number;
  /** How often the log was behind us. */
  behind: number;
  /** Runs while it may not go on. */
  timer: number | undefined;
}

/** An entry of the log that a commit of ours may explain: nothing behind it is read. */
export interface WaitingEntry {
  readonly reading: number;
  /** The entry came after the log was asked: an answer may be older. */
  isNewer: boolean;
}

export interface CommitsState<P> {
  commit: OwnCommitState;
  /** In this epoch, the oldest first. Not sent any more. */
  given: readonly CommitCandidate[];
  /** The first one is worked at, unless the commit is one that was open. */
  readonly plans: QueuedPlan<P>[];
  /** `FindCommit` of our epoch. One is enough for all that wait for it. */
  question: number | undefined;
  entry: WaitingEntry | undefined;
  /** The connection waits to hear what became of our commits. */
  fate: number | undefined;
  /** Until an open commit is sent again. */
  again: number | undefined;
  /** The relay has refused the leavers of this epoch that a commit was to remove. */
  withoutLeaversIn: number | undefined;
  /** No other commit is made in this epoch while it runs. */
  rest: { readonly epoch: number; readonly timer: number } | undefined;
  /** The last number that was given to a call, a job or a timer. */
  numbers: number;
}

/** Frozen, like every list of those given: states share them. */
export const noneGiven: readonly CommitCandidate[] = Object.freeze([]);

/** Everything of it that is on disk. */
export interface CommitRecords {
  readonly candidate: CommitCandidate | undefined;
  readonly given: readonly CommitCandidate[];
}

/** A refusal of the relay, of a plan, or of work with keys. */
export interface ChangeRefusal {
  readonly code: string;
  /** The relay could not do it now; it may have done it all the same. */
  readonly isBusy?: boolean;
  /** For an `epoch_conflict`: where the log is. */
  readonly epoch?: number | undefined;
  readonly error?: StaticError;
}

/** Knowledge of the other rooms at the moment of a step. */
export interface CommitFacts<P> {
  /** A permit, and our place is in step. */
  readonly work: Permit | undefined;
  readonly isStopped: boolean;
  readonly isOnline: boolean;
  readonly departure: LeaveStage;
  readonly epoch: number;
  /** Commits that this agent has made in this epoch. */
  readonly made: number;
  /** Nobody has to follow. */
  readonly isAlone: boolean;
  /** An owner's commit removes those that leave, or is not made. */
  readonly isOwner: boolean;
  /** Plans by the membership, both clocks and the invites of this moment. */
  readonly planOf: (plan: P, isWithoutLeavers: boolean) => "change" | "nothing" | ChangeRefusal;
  /** Between half and one and a half of it. */
  readonly jitter: (ms: number) => number;
}

export type CommitEvent<P> =
  /** Somebody asks for a change of the channel. `isOfDeparture`: leaving itself asks for it. */
  | {
    readonly type: "change";
    readonly operation: number;
    readonly plan: P;
    readonly isOfDeparture?: boolean;
  }
  /** The work with keys has ended: a commit is made, or cannot be. */
  | {
    readonly type: "prepared";
    readonly job: number;
    readonly made: CommitCandidate | ChangeRefusal;
  }
  /** The relay has taken our commit, at this place of the log. */
  | { readonly type: "taken"; readonly call: number; readonly sequence: number }
  /** The log has answered what it holds of our epoch. */
  | { readonly type: "found"; readonly call: number; readonly found: FindCommitReply }
  /** The relay has refused the call, or its answer was lost. */
  | { readonly type: "refused"; readonly call: number; readonly why: ChangeRefusal }
  /** A timer has run out: a rest, a plan without a permit, or the next copy of an open commit. */
  | { readonly type: "time"; readonly timer: number }
  /** An entry cannot be read, and a commit of ours may be why. */
  | { readonly type: "entry"; readonly reading: number }
  /** The connection asks what became of our commits, before it subscribes. */
  | { readonly type: "fate"; readonly call: number }
  /** Our group is in another epoch. */
  | { readonly type: "moved"; readonly by: "own" | "commit" | "generation" | "membership" }
  /** A member has said that it leaves. */
  | { readonly type: "left" }
  /** The permit, the place, the departure, or something that plans are about has changed. */
  | { readonly type: "look" };

/** The end of a change of the channel. */
export type ChangeOutcome =
  | { readonly is: "made"; readonly candidate: CommitCandidate; readonly sequence: number }
  | { readonly is: "nothing" }
  | { readonly is: "refused"; readonly why: ChangeRefusal }
  | { readonly is: "failed"; readonly why: ChangeFailure };

export type ChangeFailure =
  | { readonly by: "leaving" | "stopped" | "out_of_step" | "offline" | "faster" | "forked" }
  /** The log is behind us, in this epoch. */
  | { readonly by: "behind"; readonly logEpoch: number }
  /** The commit that led the log to this epoch has not arrived. */
  | { readonly by: "not_arrived"; readonly logEpoch: number }
  /** So many commits of this epoch were not taken. Without a time, no other can be made in it. */
  | { readonly by: "pace"; readonly made: number; readonly afterMs: number | undefined };

/** On disk before any effect. The group's own changes go with `prepared` and `entered`. */
export type CommitWrite =
  | { readonly type: "prepared"; readonly candidate: CommitCandidate }
  | { readonly type: "entered"; readonly candidate: CommitCandidate; readonly sequence: number }
  /** The log holds another one: nothing of ours is left of this epoch but hashes. */
  | { readonly type: "lost"; readonly ours: readonly CommitCandidate[] }
  /** The hash of the refused commit is kept. */
  | { readonly type: "refused"; readonly candidate: CommitCandidate }
  /** `dropped`: the oldest given commit that has no room any more. Its hash is kept. */
  | {
    readonly type: "given";
    readonly candidate: CommitCandidate;
    readonly dropped: CommitCandidate | undefined;
  };

export type CommitEffect<P> =
  | {
    readonly type: "prepare";
    readonly job: number;
    readonly plan: P;
    readonly isWithoutLeavers: boolean;
  }
  | {
    readonly type: "send";
    readonly call: number;
    readonly candidate: CommitCandidate;
    readonly plan: P | undefined;
  }
  | { readonly type: "find"; readonly call: number; readonly epoch: number }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  | { readonly type: "settle"; readonly operation: number; readonly result: ChangeOutcome }
  /** `settled`: look at it again. `unknown`: the relay did not say. */
  | {
    readonly type: "explained";
    readonly reading: number;
    readonly as: "settled" | "not_ours" | "unknown";
  }
  /** With a refusal, the relay did not say. */
  | { readonly type: "fate_told"; readonly call: number; readonly why: ChangeRefusal | undefined }
  | { readonly type: "report"; readonly what: "conflict_with_itself" | "took_two" }
  | { readonly type: "finding"; readonly finding: CommitFinding };

/**
 * For the rooms around: `entered` moves the group, and `moved` follows. `isOfBefore`: it lay on
 * disk, or had been given up.
 */
export type CommitFinding =
  | {
    readonly is: "entered";
    readonly candidate: CommitCandidate;
    readonly sequence: number;
    readonly isOfBefore: boolean;
  }
  | { readonly is: "outside"; readonly why: "other_keys" | "took_two" };

export interface CommitStep<P> {
  readonly write: CommitWrite | undefined;
  readonly effects: readonly CommitEffect<P>[];
}

/** Restores the commits of a process that starts. */
export function restoreCommits<P>({ candidate, given }: CommitRecords): CommitsState<P> {
  return {
    commit: candidate === undefined ? { at: "none" } : { at: "open", candidate },
    given,
    plans: [],
    question: undefined,
    entry: undefined,
    fate: undefined,
    again: undefined,
    withoutLeaversIn: undefined,
    rest: undefined,
    numbers: 0,
  };
}

/**
 * Without everything that is in memory alone: `restoreCommits` must make the same of what is on
 * disk.
 */
export function forgetCommits<P>({ commit, given }: CommitsState<P>): CommitsState<P> {
  return restoreCommits({ candidate: candidateOf(commit), given });
}

/** The commit whose fate is not known. */
export function candidateOf(commit: OwnCommitState): CommitCandidate | undefined {
  return "candidate" in commit ? commit.candidate : undefined;
}

/** All that the log may hold of ours in this epoch, and that we have not entered. */
export function oursOf(
  { commit, given }: Pick<CommitsState<unknown>, "commit" | "given">,
): readonly CommitCandidate[] {
  const candidate = candidateOf(commit);
  return candidate === undefined ? given : [candidate, ...given];
}

/** Returns the timers that the state waits for. */
export function timersOf(
  { commit, again, rest, plans }: CommitsState<unknown>,
): readonly (number | undefined)[] {
  return [
    again,
    rest?.timer,
    "timer" in commit ? commit.timer : undefined,
    ...plans.map(({ timer }) => timer),
  ];
}
