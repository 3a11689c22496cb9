/**
 * The state of the room that stops a channel, begins generations and comes back: plain data, which
 * `stepRecovery` alone changes. Keys, Welcomes, foundings and commits are named by hash or number;
 * their bytes lie with the runner.
 */
import type { AgentId } from "../../../proto/mod.ts";
import type { Doubt, Permit } from "../connection/permit.ts";
import type { ForeignGeneration } from "./foreign_generation.ts";
import type { ExclusionList } from "../group/lineage.ts";
import type { Answerers, Peer } from "./answerers.ts";

/** A commit that its sender signed and that we cannot follow. */
export interface UnfollowableCommit {
  readonly sequence: number;
  readonly epoch: number;
  readonly hash: string;
  readonly blamed: AgentId;
  readonly reason: string;
  /** When this agent found out, by its own clock. */
  readonly sinceMs: number;
}

/** A founding of ours, which the relay may have taken. */
export interface MadeFounding {
  readonly hash: string;
  readonly generation: number;
  /** The commit that it is about, and the group on which it stands. */
  readonly badCommit: string;
  readonly base: string;
  /** Members of it, with us. */
  readonly members: number;
  /** The members that the founding leaves out beside the blamed, ascending. */
  readonly without: readonly AgentId[];
  /** A copy of it is on its way, or was lost. In memory: after a start nobody knows. */
  readonly isSent: boolean;
  /** The relay takes these bytes no more as its log is now. In memory. */
  readonly isRefused: boolean;
}

export type RecoveryPlace =
  /** The group follows the log. */
  | { readonly at: "in_step" }
  /** The group stands before a commit that its sender signed and that cannot be followed. */
  | {
    readonly at: "stopped";
    readonly bad: UnfollowableCommit;
    /** Members that ask to be let in since we are stopped: they cannot follow either. */
    readonly askers: readonly AgentId[];
    readonly back: WayBack | undefined;
  }
  /** The log is in a generation that this agent refuses. */
  | {
    readonly at: "apart";
    readonly foreign: ForeignGeneration;
    readonly bad: UnfollowableCommit | undefined;
  }
  /** The group is of no use: this agent asks to be let in. */
  | { readonly at: "outside"; readonly back: WayBack };

/**
 * `commits`: what members signed, never taken back. `word`: of the relay, which a permit ends.
 * `lapse`: the same, which a permit does not end. `stop`: others may have followed.
 */
export type ReturnGround = "commits" | "word" | "lapse" | "stop";

export interface RejoinKeyPackage {
  readonly reference: string;
  readonly leaf: string;
  /** The badges that its leaf shows; empty for none. */
  readonly badges: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface ReceivedWelcome {
  readonly welcome: number;
  readonly sender: AgentId;
}

export interface ToldLeaf {
  /** The same leaf may be told again, at another place of the tree. */
  readonly number: number;
  readonly requestId: string;
  readonly leaf: string;
  readonly sender: AgentId;
}

export type RejoinAnswer =
  | { readonly of: "welcome"; readonly told: ReceivedWelcome }
  | { readonly of: "leaf"; readonly told: ToldLeaf };

/** Requests of one attempt, made anew for each leaf that we are told. */
export interface RejoinAttempt {
  readonly signed: readonly string[];
  readonly leaves: number;
  /** Another generation was named: once it is asked without a pause. */
  readonly isMoved: boolean;
}

export interface WayBack {
  readonly by: ReturnGround;
  readonly reason: string;
  /** The generation that we want into. */
  readonly generation: number;
  /** Our present leaf, as somebody told us. */
  readonly leaf: string | undefined;
  readonly answerers: Answerers;
  /** Not looked at yet. */
  readonly told: readonly RejoinAnswer[];
  /**
   * A Welcome that is good for an agent in step may not be for a stopped one: so the place of its
   * beginning is kept.
   */
  readonly look:
    | { readonly job: number; readonly at: RejoinAnswer; readonly place: RecoveryPlace["at"] }
    | undefined;
  /**
   * The last entry of ours that the relay knows: it may prove that our store is older. `none`: it
   * names none.
   */
  readonly proof: number | "none" | undefined;
  /** This return is among the times that are limited. */
  readonly isCounted: boolean;
  readonly attempt: RejoinAttempt | undefined;
  readonly step: WayBackStep;
}

export type WayBackStep =
  /** The relay is asked for our latest entry: is our store provably older? */
  | {
    readonly at: "proving";
    readonly call: number | undefined;
    readonly timer: number | undefined;
  }
  /** The entry that it gave is judged: is it ours, and unknown here? */
  | { readonly at: "judging_proof"; readonly job: number }
  /** This agent came back too often within the hour or the day. */
  | {
    readonly at: "resting";
    readonly timer: number;
    readonly of: "hour" | "day";
    readonly untilMs: number;
  }
  /** Welcomes that were here before are looked at. */
  | { readonly at: "ready" }
  /** A KeyPackage, if a new one is needed, and the signature are made. */
  | { readonly at: "making"; readonly job: number }
  /** The relay is given the request. */
  | { readonly at: "asking"; readonly call: number }
  /** Members have a while to answer. */
  | {
    readonly at: "asked";
    readonly request: string;
    /** Undefined when it is over. */
    readonly timer: number | undefined;
    /** Ours, as somebody told us for this request. */
    readonly leaf: string | undefined;
    readonly isStrange: boolean;
  }
  /** Until the next request. */
  | { readonly at: "pausing"; readonly timer: number | undefined }
  /** Leaving has said goodbye. A rest goes on meanwhile; its timer is undefined when it is over. */
  | { readonly at: "halted"; readonly rest: RejoinPause | undefined };

export interface RejoinPause {
  readonly of: "hour" | "day";
  readonly untilMs: number;
  readonly timer: number | undefined;
}

export type FoundingStage =
  /** No founding is on its way. */
  | { readonly at: "none" }
  /** Is the relay there? */
  | { readonly at: "probing"; readonly call: number }
  /** Everything in front of the stop has to arrive. */
  | { readonly at: "arriving"; readonly operation: number }
  /** Does the log hold one of ours? It is asked before another one is made. */
  | { readonly at: "looking"; readonly call: number }
  /** KeyPackages of the members are claimed, a page a call. */
  | {
    readonly at: "claiming";
    readonly call: number;
    readonly left: readonly AgentId[];
    readonly calls: readonly number[];
  }
  /** Keys are at work. */
  | { readonly at: "making"; readonly job: number }
  /** The founding is on disk and on its way to the relay. */
  | { readonly at: "sent"; readonly call: number; readonly hash: string; readonly isOnly: boolean }
  /** Asks whether the log holds the founding, before a refusal is believed. */
  | {
    readonly at: "checking";
    readonly call: number;
    readonly hash: string;
    readonly isOnly: boolean;
    readonly refusal: RecoveryRefusal;
  }
  /** Another owner was faster, or members let us in: their generation has to arrive. */
  | { readonly at: "following"; readonly timer: number };

export interface RecoveryRefusal {
  readonly code: string;
  readonly text: string;
  /** Agents that it is about. */
  readonly about?: readonly AgentId[];
}

/**
 * Whom a call leaves out beside the blamed: exactly `without`; those of the list but `keep`; or,
 * without both, the list.
 */
export interface ExclusionChoice {
  readonly without?: readonly AgentId[];
  readonly keep?: readonly AgentId[];
}

/** A call of `recover()`. */
export interface RecoverCall {
  readonly operation: number;
  /** The call named members to leave out, or to keep. */
  readonly isNamed: boolean;
  /** The blamed agent, if it named that one too: a Welcome may lead where that one still is. */
  readonly blamed: readonly AgentId[];
}

export interface RecoveryState {
  place: RecoveryPlace;
  /** Foundings of ours that were made in our generation, the latest last. */
  made: readonly MadeFounding[];
  founding: FoundingStage;
  /** Calls of `recover()` that wait for it. */
  recovering: readonly RecoverCall[];
  /**
   * The members that these calls leave out beside the blamed, ascending; the times that the calls
   * waited for what stands in front of the stop; and the foundings that the relay refused.
   */
  without: readonly AgentId[];
  waits: number;
  refusals: number;
  /** The question to the log whether it holds a founding of ours. */
  settling: number | undefined;
  /** A generation that somebody began: its Welcome is being opened, and the entry waits. */
  opening:
    | { readonly job: number; readonly generation: number; readonly out: readonly AgentId[] }
    | undefined;
  /** The latest generation of which we could not tell, and for which we asked. */
  asked: number;
  /** A member signed that it has left for the generation after ours. */
  isLeftFor: boolean;
  /** A commit removed us while we asked to be let in: it counts when the asking ends. */
  isRemoved: boolean;
  /** Leaving has said goodbye: our leaf and our group stay as they are. */
  isHalted: boolean;
  /** When we were let in after a stop. */
  returnedMs: number | undefined;
  /** When we began to come back, the latest last. */
  cameBackMs: readonly number[];
  /** The log holds something of ours that this store does not know. */
  isProven: boolean;
  own: RejoinKeyPackage | undefined;
  /**
   * KeyPackages that may be in the group, or be brought into it by a request that is valid: their
   * keys stay.
   */
  spent: readonly string[];
  numbers: number;
  isOver: boolean;
}

/** Knowledge of the other rooms at the moment of a step. */
export interface RecoveryFacts {
  readonly permit: Permit | undefined;
  readonly isOnline: boolean;
  /** The epoch of our group. */
  readonly epoch: number;
  /** The generation of the log, as the relay said last on this connection. */
  readonly logGeneration: number;
  readonly leaf: string;
  /** Our group, as a founding on it names it. */
  readonly base: string;
  readonly self: Peer;
  /** The other members, as our group has them. */
  readonly others: readonly Peer[];
  /** The members of the base, with a leaf or absent, including us. */
  readonly members: readonly AgentId[];
  /** The members of the base without us and the ones that leave. */
  readonly claimable: readonly AgentId[];
  /** Whom a recovery leaves out beside the sender of the commit at which we are stopped. */
  readonly leftOut: ExclusionList;
  /** Everything in front of the stop is here; has been read; was taken by the program. */
  readonly isAllHere: boolean;
  readonly isAllRead: boolean;
  readonly isAllShown: boolean;
  readonly isLeaving: boolean;
  /** Welcomes to this channel that came before anybody wanted them. */
  readonly welcomes: readonly ReceivedWelcome[];
  readonly nowMs: number;
  readonly relayNowMs: number;
  /** Returns the badges that a leaf of ours would show now; empty for none. */
  readonly badges: string;
  readonly jitter: (ms: number) => number;
}

export interface FoundCommit {
  readonly sequence: number;
  readonly hash: string;
}

export type RecoveryEvent =
  /** A connection is up. */
  | { readonly type: "connected" }
  /** The connection was judged good. */
  | { readonly type: "permit" }
  /** The connection was judged bad, or the relay says that the membership has lapsed. */
  | {
    readonly type: "doubt";
    readonly by: Doubt["by"];
    readonly reason: string;
    readonly sent?: number;
  }
  /** The answer to the connection's question about the stop. */
  | { readonly type: "stop_found"; readonly epoch: number; readonly commit?: FoundCommit }
  /** The relay says in which generation its log is. */
  | { readonly type: "log_at"; readonly generation: number }
  /**
   * The relay says that the channel has ended for us. `isRecovered`: by a founding that left us
   * out.
   */
  | { readonly type: "ended"; readonly isRecovered: boolean }
  /** A commit cannot be followed, although its sender signed it. */
  | {
    readonly type: "cannot_follow";
    readonly bad: UnfollowableCommit | undefined;
    readonly reason: string;
  }
  /** Our group is not the one of the log. `isNamed`: members are asked by name. */
  | { readonly type: "out_of_step"; readonly reason: string; readonly isNamed?: boolean }
  /** An entry at the stop, or behind it. */
  | { readonly type: "stop_read"; readonly isStop: boolean }
  /** A commit removes us; `isAgain`: and adds us. */
  | { readonly type: "removed"; readonly isAgain: boolean; readonly reason: string }
  /** Our group has moved, by a commit. `from`: as a founding on the group before names it. */
  | { readonly type: "moved"; readonly from: string }
  /** The log holds a founding, which was judged. */
  | {
    readonly type: "founding";
    readonly generation: number;
    readonly founder: AgentId;
    /** The blamed, and those that it leaves out beside it. */
    readonly out: readonly AgentId[];
    readonly verdict: "follow" | "behind" | "ahead" | "refused";
    readonly reason: string;
  }
  /** The program has taken what was here. */
  | { readonly type: "all_shown" }
  /** A genuine request of a member to be let in, into this generation. */
  | { readonly type: "asker"; readonly agentId: AgentId; readonly generation: number }
  /** A commit of ours was entered: requests that we signed before are void. */
  | { readonly type: "own_commit" }
  /** A Welcome has arrived. */
  | { readonly type: "welcome"; readonly told: ReceivedWelcome }
  /** A member tells us our present leaf. */
  | { readonly type: "leaf"; readonly told: ToldLeaf }
  /** The program calls `recover()`. */
  | { readonly type: "recover"; readonly operation: number; readonly choice: ExclusionChoice }
  /** Everything in front of the stop is here, or nothing comes any more. */
  | { readonly type: "arrived"; readonly operation: number; readonly isLate: boolean }
  /**
   * The program wants to leave: a founding that was not sent is given up, one that was sent is
   * settled.
   */
  | { readonly type: "leaves" }
  /** Leaving says goodbye: our leaf stays as it is. */
  | { readonly type: "halt" }
  /** Leaving has failed, and the way back goes on. */
  | { readonly type: "resume" }
  /** The relay has answered. */
  | { readonly type: "answered"; readonly call: number; readonly answer: RecoveryAnswer }
  /** The relay has refused. `epoch`: of an `epoch_conflict`. */
  | {
    readonly type: "refused";
    readonly call: number;
    readonly refusal: RecoveryRefusal;
    readonly epoch?: number;
  }
  /** The relay's answer was lost. */
  | { readonly type: "lost"; readonly call: number; readonly refusal: RecoveryRefusal }
  /** Work with keys has ended. */
  | { readonly type: "done"; readonly job: number; readonly result: RecoveryWorkResult }
  /** Keys could not be made or used. */
  | { readonly type: "failed"; readonly job: number; readonly refusal: RecoveryRefusal }
  /** A timer has run out: a pause, a rest, or the wait for an answer. */
  | { readonly type: "time"; readonly timer: number }
  /** The channel is over: every call that waits is rejected. */
  | { readonly type: "over" };

export type RecoveryAnswer =
  | { readonly to: "FindCommit"; readonly commit?: FoundCommit }
  | { readonly to: "ReadOwn" }
  | { readonly to: "ClaimForFounding" }
  | { readonly to: "FoundGeneration"; readonly sequence: number }
  | { readonly to: "RequestRejoin"; readonly requestId: string };

export type RecoveryWorkResult =
  | { readonly of: "proof"; readonly isProof: boolean }
  | { readonly of: "request"; readonly own: RejoinKeyPackage }
  | { readonly of: "leaf"; readonly isOurs: boolean }
  | { readonly of: "welcome"; readonly opened: ReadableWelcome | UnreadableWelcome }
  | { readonly of: "founding"; readonly made: Pick<MadeFounding, "hash" | "members"> }
  | { readonly of: "generation"; readonly why: string | undefined };

export interface ReadableWelcome {
  /** The KeyPackage that it was for. */
  readonly own: string;
  readonly generation: number;
  /** The members of the group, with a leaf or absent. */
  readonly members: readonly AgentId[];
}

export interface UnreadableWelcome {
  readonly why: string;
  /** The Welcome names our KeyPackage, so that the group may have it now. */
  readonly isForOwn: boolean;
}

export type RecoveryRequest =
  | { readonly to: "FindCommit"; readonly epoch: number }
  | { readonly to: "ReadOwn"; readonly sequence: number }
  | { readonly to: "ClaimForFounding"; readonly agentIds: readonly AgentId[] }
  | { readonly to: "FoundGeneration"; readonly hash: string }
  /** As the job made it. */
  | {
    readonly to: "RequestRejoin";
    readonly own: string;
    readonly leaf: string;
    readonly generation: number;
    readonly answerer: AgentId | undefined;
  };

export type RecoveryWork =
  /** Whether the entry that this call returned is of ours, and of no process of this store. */
  | { readonly of: "proof"; readonly call: number }
  /**
   * Signs a request to be let in, with this KeyPackage or with a new one. An empty leaf is none.
   */
  | {
    readonly of: "request";
    readonly own: string | undefined;
    readonly leaf: string;
    readonly generation: number;
  }
  | {
    readonly of: "leaf";
    readonly number: number;
    readonly leaf: string;
    readonly generation: number;
    readonly isNew: boolean;
  }
  | { readonly of: "welcome"; readonly welcome: number; readonly own: string | undefined }
  /** With the KeyPackages that these calls returned. */
  | {
    readonly of: "founding";
    readonly bad: UnfollowableCommit;
    readonly calls: readonly number[];
    readonly without: readonly AgentId[];
  }
  | { readonly of: "generation"; readonly generation: number };

/** To be on disk before anything else of the step. */
export type RecoveryChange =
  | { readonly type: "stopped"; readonly bad: UnfollowableCommit | undefined }
  | { readonly type: "foreign"; readonly foreign: ForeignGeneration | undefined }
  | { readonly type: "founding"; readonly made: MadeFounding }
  | { readonly type: "no_founding"; readonly hash: string }
  | { readonly type: "returned"; readonly atMs: number | undefined }
  | { readonly type: "came_back"; readonly timesMs: readonly number[] }
  /** `own`: the founding of ours; else the one whose Welcome was opened. */
  | { readonly type: "generation"; readonly own: FoundCommit | undefined }
  | { readonly type: "membership"; readonly welcome: number };

/** News for the other rooms. */
export type RecoveryFinding =
  | { readonly type: "stopped" }
  | { readonly type: "in_step" }
  /** `hears`: the link goes on to hear the log. */
  | { readonly type: "outside"; readonly hears: boolean }
  /** `isLate`: our group had left its base, so that members may be in it again. */
  | { readonly type: "generation"; readonly own: FoundCommit | undefined; readonly isLate: boolean }
  | { readonly type: "membership" }
  | { readonly type: "all_arrived" }
  /** No founding of ours is on its way, and the log was asked: leaving goes on. */
  | { readonly type: "founding_settled" }
  /** A commit has removed us: everything is erased. */
  | { readonly type: "gone" }
  /** Nothing behind this entry is read before there is a permit. */
  | { readonly type: "hold" }
  /** With the refusal of the question to the log, if that is why. */
  | { readonly type: "retry"; readonly refusal?: RecoveryRefusal }
  | { readonly type: "over" };

export type RecoveryReport =
  | { readonly kind: "refused_commit"; readonly bad: UnfollowableCommit }
  | { readonly kind: "log_set_back"; readonly bad: UnfollowableCommit }
  | { readonly kind: "refused_recovery"; readonly foreign: ForeignGeneration }
  | { readonly kind: "recovered"; readonly bad: UnfollowableCommit | undefined }
  | { readonly kind: "begun_anew"; readonly reason: string }
  | { readonly kind: "begun_ahead" }
  | { readonly kind: "rejoined" }
  | { readonly kind: "store_rolled_back" }
  | { readonly kind: "store_unproven"; readonly reason: string }
  | { readonly kind: "too_many_reasons" }
  | { readonly kind: "too_many_returns"; readonly untilMs: number }
  | { readonly kind: "refused_welcome"; readonly sender: AgentId; readonly why: string }
  | { readonly kind: "ask_for_invite"; readonly because: "strange_leaf" | "too_many_refusals" };

export type RecoveryEffect =
  | { readonly type: "call"; readonly call: number; readonly request: RecoveryRequest }
  | { readonly type: "job"; readonly job: number; readonly work: RecoveryWork }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  /** The link tells when what stands in front of the stop is here. */
  | { readonly type: "await_arrival"; readonly operation: number }
  | {
    readonly type: "settle";
    readonly operation: number;
    readonly refusal: RecoveryRefusal | undefined;
  }
  | { readonly type: "report"; readonly report: RecoveryReport }
  | { readonly type: "finding"; readonly finding: RecoveryFinding }
  /** The Welcomes that waited are ours now. */
  | { readonly type: "take_welcomes" }
  | { readonly type: "forget_keys"; readonly own: readonly string[] };

export interface RecoveryStep {
  readonly write: readonly RecoveryChange[];
  readonly effects: readonly RecoveryEffect[];
}
