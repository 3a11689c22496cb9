/**
 * The state of leaving a channel: what is waited for before the relay is told, and the calls of the
 * program that wait. It is plain data, and `stepDeparture` alone changes it. Nothing of it is on
 * disk.
 */
import type { AgentId, ChannelEndReason } from "../../../proto/mod.ts";
import type { ChangeRefusal } from "../commits/own_commit_state.ts";
import type { Permit } from "../connection/permit.ts";
import type { Plan } from "../commits/plan.ts";
import type { LeaveStage } from "./stage.ts";

export type DepartureWait =
  /** The last owner is on its way back. */
  | { readonly at: "waiting_back"; readonly timer: number }
  /** A founding of ours may be in the log. */
  | { readonly at: "founding"; readonly timer: number }
  /** A commit of ours may be; `change` does nothing, behind it. */
  | { readonly at: "settling"; readonly change: number }
  /** We are alone, and the relay is asked to close the channel. */
  | { readonly at: "closing"; readonly call: number }
  /** A commit makes the successor an owner, and settles what leaving leaves behind. */
  | { readonly at: "handing_on"; readonly change: number }
  /** The relay is told when nothing is written any more that gives us another leaf. */
  | { readonly at: "saying"; readonly call: number; readonly isNamed: boolean }
  /** A member has let us in meanwhile, under another leaf. */
  | { readonly at: "let_in_again"; readonly timer: number };

export type Departure =
  /** Nobody has asked to leave. */
  | { readonly at: "staying" }
  /** The agent is leaving, and calls of the program wait for its end. */
  | {
    readonly at: "going";
    going: DepartureWait;
    readonly successor: AgentId | undefined;
    tries: number;
    /** Each is waited for once. */
    hasWaitedBack: boolean;
    hasAskedFounding: boolean;
    /** Operations of the program that wait for the end. */
    readonly waiting: number[];
  }
  /** The agent has left, or the channel is over. */
  | { readonly at: "ended"; readonly how: DepartureEnd };

/**
 * `gone`: the relay has no place for us, and everything is erased. `over`: the channel is, with its
 * keys.
 */
export type DepartureEnd = "gone" | "over";

export interface DepartureState {
  departure: Departure;
  /** The last number that was given to a call, a change or a timer. */
  numbers: number;
}

/** Knowledge of the other rooms at the moment of a step. */
export interface DepartureFacts {
  /** A permit, and our place is in step. */
  readonly work: Permit | undefined;
  /** A rejoin runs. */
  readonly isOnWayBack: boolean;
  /** Nothing can be committed: stopped, apart with a bad commit, or on the way back. */
  readonly isBlocked: boolean;
  /** The relay may take one that we have made. */
  readonly hasFounding: boolean;
  /** No other member has a leaf. */
  readonly isAlone: boolean;
  readonly isAnyAbsent: boolean;
  readonly isOwner: boolean;
  /** No other owner stays. */
  readonly isLastOwner: boolean;
  /** Somebody stays. */
  readonly doOthersStay: boolean;
  /** The log was read up to its end. */
  readonly isAllRead: boolean;
  /**
   * The relay is told which membership is meant: where we cannot get in again, an owner has to
   * remove us.
   */
  readonly mayName: boolean;
}

export type DepartureEvent =
  /** The program asks to leave. */
  | { readonly type: "leave"; readonly operation: number; readonly successor: AgentId | undefined }
  /** A change of our own has ended. */
  | { readonly type: "changed"; readonly change: number; readonly why: LeaveRefusal | undefined }
  /** The relay has done what it was asked. */
  | { readonly type: "done"; readonly call: number }
  /** The relay has refused, or its answer was lost. */
  | { readonly type: "refused"; readonly call: number; readonly why: LeaveRefusal }
  /** The log was asked for our founding. With a refusal, it could not be. */
  | { readonly type: "founding"; readonly why: ChangeRefusal | undefined }
  /** A membership or a generation was entered: our leaf is another one. */
  | { readonly type: "entered" }
  /** The place has changed. */
  | { readonly type: "look" }
  /** A timer has run out: what was waited for did not happen. */
  | { readonly type: "time"; readonly timer: number }
  /** The channel ended by another way than this call. */
  | { readonly type: "over"; readonly how: DepartureEnd };

/** `isHidden`: the pass of this session does not cover the channel. */
export interface LeaveRefusal extends ChangeRefusal {
  readonly isHidden?: boolean;
}

/** The end of `leave()`, when it ends here. */
export type LeaveOutcome = { readonly is: "refused"; readonly why: ChangeRefusal } | {
  readonly is: "failed";
  readonly why: "leaving" | "kept_out" | "absent" | "founding";
};

export type DepartureEffect =
  | { readonly type: "change"; readonly change: number; readonly plan: OwnPlan }
  /** The log is asked whether it holds a founding of ours. */
  | { readonly type: "settle_founding" }
  | { readonly type: "close"; readonly call: number }
  /** Signed over our present leaf. */
  | { readonly type: "say"; readonly call: number; readonly isNamed: boolean }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  | { readonly type: "settle"; readonly operation: number; readonly result: LeaveOutcome }
  /**
   * `operations`: calls that wait. Their erasure is waited for, or they leave what is over by its
   * name.
   */
  | { readonly type: "ended"; readonly how: DepartureEnd; readonly operations: readonly number[] };

/** A plan of leaving. It stands behind what is open or given. */
export type OwnPlan = Extract<Plan, { is: "settle" | "succession" }>;

export interface DepartureStep {
  readonly effects: readonly DepartureEffect[];
}

/** Returns the departure of a process that starts. */
export function newDeparture(): DepartureState {
  return { departure: { at: "staying" }, numbers: 0 };
}

export function stageOf({ departure }: DepartureState): LeaveStage {
  if (departure.at === "staying") return "staying";
  if (departure.at === "ended") return "goodbye";
  const { at } = departure.going;
  return at === "closing" || at === "saying" ? "goodbye" : "leaving";
}

/**
 * Whether this end of the channel is what the relay is asked for, or what it says when it has
 * forgotten us: it may tell it first.
 */
export function isAskedFor(
  { departure }: DepartureState,
  end: ChannelEndReason | "unknown",
): boolean {
  if (departure.at !== "going") return false;
  const { at } = departure.going;
  return at === "closing"
    ? end === "closed"
    : at === "saying" && (end === "left" || end === "closed");
}

/** Returns the timers that the state waits for. */
export function timersOf({ departure }: DepartureState): readonly number[] {
  return departure.at === "going" && "timer" in departure.going ? [departure.going.timer] : [];
}
