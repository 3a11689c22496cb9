/**
 * The state of confirmations: our own word about each epoch, and what others said. It is plain
 * data, and `stepConfirmations` alone changes it.
 */
import type { AgentId } from "../../../proto/mod.ts";
import {
  type EpochBeginning,
  type EpochWord,
  type ForkFacts,
  type ForkFinding,
  type ForkState,
  type LastStatement,
  restoreForks,
} from "./fork_watch.ts";
import type { EpochClaim, UnverifiedWord } from "./waiting_claims.ts";

/** Epochs whose state is kept: members that were away for longer are compared among each other. */
export const keptEpochs = 256;

/** Our own word about the present epoch. */
export type OwnWordStage =
  /** Nothing is said about this epoch, or the channel was not up to date. */
  | { readonly at: "none" }
  /** Epochs that follow each other faster are not confirmed one by one. */
  | { readonly at: "due"; readonly timer: number }
  /** The word is written, if it is `isNew`, and then signed. */
  | {
    readonly at: "signing";
    readonly job: number;
    readonly said: EpochWord;
    readonly isNew: boolean;
  }
  /** Until it is given again. */
  | { readonly at: "said"; readonly timer: number };

/** With its signature. */
export interface SignedWord extends EpochWord {
  readonly signature: Uint8Array;
}

export interface ConfirmationState {
  word: OwnWordStage;
  /** On disk: no restart or rejoin makes this agent contradict itself. */
  own: EpochWord | undefined;
  /** Given last. */
  signed: SignedWord | undefined;
  /** When an epoch was first confirmed, and when that was last told, by the local clock. */
  saidMs: number;
  toldMs: number;
  /**
   * Others may have messages of ours from epochs up to here, of another group than ours: nothing is
   * said about them.
   */
  formerEpoch: number;
  /** Our own states, by epoch, the oldest first. */
  readonly states: Map<number, Uint8Array>;
  /** Statements of others that agree with these, and that nobody has asked about: the newest. */
  readonly claims: Map<AgentId, EpochClaim>;
  /** Members in whose names something was told that they did not sign: nothing of theirs waits. */
  readonly doubted: Set<AgentId>;
  /** Nothing unverified is in it. */
  readonly forks: ForkState;
  /** Runs since a member confirmed an epoch that we do not know. */
  ahead: number | undefined;
  /** Runs since a claim waits. */
  look: number | undefined;
  /** Runs since something was heard that is not on disk. */
  keep: number | undefined;
  /** The last number that was given to a job or a timer. */
  numbers: number;
}

/** Knowledge of others at the moment of a step. */
export interface ConfirmationFacts extends ForkFacts {
  readonly epoch: number;
  /** The state of our group, now. */
  readonly state: Uint8Array;
  readonly members: number;
  /** The channel is where the relay says that the log is. */
  readonly isCurrent: boolean;
}

export type ConfirmationEvent =
  /** The channel is up to date. */
  | { readonly type: "confirm" }
  /** Our word is signed, and on disk before. */
  | { readonly type: "signed"; readonly job: number; readonly signature: Uint8Array }
  /** Our group is in this epoch, in this state: at the start, and with each commit and founding. */
  | {
    readonly type: "entered";
    readonly epoch: number;
    readonly state: Uint8Array;
    readonly by: EpochMover | undefined;
  }
  /**
   * We joined anew, perhaps into another group than the one before, which had reached this epoch.
   * All of it is on disk already.
   */
  | {
    readonly type: "restarted";
    readonly epoch: number;
    readonly state: Uint8Array;
    readonly formerEpoch: number;
  }
  /** A message of a member opened. */
  | { readonly type: "heard"; readonly agentId: AgentId; readonly epoch: number }
  /**
   * Statements of members have arrived, and are not verified yet. `isOwn`: their signers sent them
   * here themselves, in messages; else the relay says so.
   */
  | {
    readonly type: "told";
    readonly said: EpochWord;
    readonly by: readonly UnverifiedWord[];
    readonly isOwn: boolean;
  }
  /**
   * Their signatures are right, in the order in which they came; something else was told of those
   * that are `doubted`, and they did not sign that.
   */
  | {
    readonly type: "verified";
    readonly claims: readonly EpochClaim[];
    readonly doubted: readonly AgentId[];
  }
  /** Somebody wants to know of these members. */
  | { readonly type: "asked"; readonly agentIds: readonly AgentId[] }
  /** The relay says that these are connected and confirm nothing. */
  | { readonly type: "unconfirmed"; readonly epoch: number; readonly agentIds: readonly AgentId[] }
  /** The connection has come, or is gone. */
  | { readonly type: "connection"; readonly isOnline: boolean }
  /** The process ends. */
  | { readonly type: "keep"; readonly operation: number }
  /**
   * A timer has run out: a word is given, somebody is ahead of us, notes go to disk, or claims are
   * verified.
   */
  | { readonly type: "time"; readonly timer: number };

export interface EpochMover {
  readonly committer: AgentId;
  /**
   * Members that came with a KeyPackage, and when they signed that: it may have waited at the relay
   * since.
   */
  readonly added: readonly { readonly agentId: AgentId; readonly madeMs: number }[];
}

export type ConfirmationEffect =
  /** `isNew`: on disk first. */
  | {
    readonly type: "sign";
    readonly job: number;
    readonly said: EpochWord;
    readonly isNew: boolean;
  }
  /** The relay passes it on, in cells that leave anyway. */
  | { readonly type: "tell"; readonly signed: SignedWord }
  /** Asks for the newest claim that is right, of those that waited. */
  | { readonly type: "verify"; readonly claims: readonly EpochClaim[] }
  /** All that waits, with rests. */
  | { readonly type: "look" }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  /**
   * Statements of others go to disk. `operation`: the end of the process waits for it, and nothing
   * else does.
   */
  | { readonly type: "note"; readonly operation: number | undefined }
  | { readonly type: "settle"; readonly operation: number }
  | ForkFinding;

export interface ConfirmationStep {
  readonly effects: readonly ConfirmationEffect[];
}

/** Everything of it that is on disk. */
export interface ConfirmationRecords {
  readonly own: EpochWord | undefined;
  /** By epoch, ascending. */
  readonly states: ReadonlyMap<number, Uint8Array>;
  readonly heard: ReadonlyMap<AgentId, LastStatement>;
  /** Members that are known to lie. */
  readonly liars: ReadonlySet<AgentId>;
  /** The latest epoch, unless an earlier version wrote all of this. */
  readonly begun: EpochBeginning | undefined;
}

/** Restores the confirmations of a process that starts. */
export function restoreConfirmations(
  { own, states, heard, liars, begun }: ConfirmationRecords,
  formerEpoch: number,
): ConfirmationState {
  return {
    word: { at: "none" },
    own,
    signed: undefined,
    saidMs: -Infinity,
    toldMs: 0,
    formerEpoch,
    states: new Map(states),
    claims: new Map(),
    doubted: new Set(),
    forks: restoreForks(heard, liars, begun),
    ahead: undefined,
    look: undefined,
    keep: undefined,
    numbers: 0,
  };
}

/** Epochs that are over when the state of another one is kept. */
export function overEpochs({ states }: Pick<ConfirmationState, "states">, epoch: number): number[] {
  const known = [...states.keys()].filter((each) => each !== epoch);
  return known.slice(0, Math.max(0, known.length + 1 - keptEpochs));
}

/** Returns the timers that the state waits for. */
export function timersOf(
  { word, ahead, look, keep }: ConfirmationState,
): readonly (number | undefined)[] {
  return ["timer" in word ? word.timer : undefined, ahead, look, keep];
}
