/**
 * The state of leaving a channel: what is waited for before the relay is told, and the calls of the program that wait. It is plain
 * data, and `stepDeparture` alone changes it. The tables are in docs/channel_machine.md. Nothing of it is on disk.
 */
import type { Permit } from "../connection/permit.ts";
import type { Refused } from "../commits/own_commit_state.ts";

export type Going =
  /** The last owner is on its way back. */
  | { readonly at: "waiting_back"; readonly timer: number }
  /** A founding of ours may be in the log. */
  | { readonly at: "founding"; readonly timer: number }
  /** A commit of ours may be; `change` does nothing, behind it. */
  | { readonly at: "settling"; readonly change: number }
  | { readonly at: "closing"; readonly call: number }
  | { readonly at: "handing_on"; readonly change: number }
  | { readonly at: "saying"; readonly call: number; readonly isNamed: boolean }
  /** A member has let us in meanwhile, under another leaf. */
  | { readonly at: "let_in_again"; readonly timer: number };

export type Departure =
  | { readonly at: "staying" }
  | {
    readonly at: "going";
    going: Going;
    readonly successor: string | undefined;
    tries: number;
    /** Each is waited for once. */
    hasWaitedBack: boolean;
    hasAskedFounding: boolean;
    /** Of the program. */
    readonly waiting: number[];
  }
  | { readonly at: "gone" };

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
  /** Of the log, up to its end. */
  readonly isAllRead: boolean;
  /** The relay is told which membership is meant: where we cannot get in again, an owner has to remove us. */
  readonly mayName: boolean;
}

export type DepartureEvent =
  | { readonly type: "leave"; readonly operation: number; readonly successor: string | undefined }
  /** A change of our own has ended. */
  | { readonly type: "changed"; readonly change: number; readonly why: Refused | undefined }
  | { readonly type: "done"; readonly call: number }
  /** `isHidden`: the pass of this session does not cover the channel. */
  | { readonly type: "refused"; readonly call: number; readonly why: Refused; readonly isHidden?: boolean }
  /** The log was asked for our founding. With a refusal, it could not be. */
  | { readonly type: "founding"; readonly why: Refused | undefined }
  /** A membership or a generation was entered: our leaf is another one. */
  | { readonly type: "entered" }
  /** The place has changed. */
  | { readonly type: "look" }
  | { readonly type: "time"; readonly timer: number }
  /** With keys, or all of it is being erased. */
  | { readonly type: "over"; readonly isErased: boolean };

/** The end of `leave()`, when it ends here. */
export type Left = { readonly is: "refused"; readonly why: Refused } | {
  readonly is: "failed";
  readonly why: "leaving" | "kept_out" | "absent";
};

export type DepartureEffect =
  | { readonly type: "change"; readonly change: number; readonly plan: OwnPlan }
  | { readonly type: "close"; readonly call: number }
  /** Signed over our present leaf. */
  | { readonly type: "say"; readonly call: number; readonly isNamed: boolean }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  | { readonly type: "settle"; readonly operation: number; readonly result: Left }
  | { readonly type: "finding"; readonly finding: DepartureFinding };

/** `settle`: nothing to do. It stands behind what is open or given. */
export type OwnPlan = { readonly kind: "settle" } | {
  readonly kind: "succession";
  readonly successor: string | undefined;
};

/** For the rooms around. */
export type DepartureFinding =
  /** Duties rest, and a `recover()` that has sent nothing rejects. */
  | { readonly is: "rests" }
  /** All goes on. */
  | { readonly is: "stays" }
  | { readonly is: "settles_founding" }
  /** No way back is looked for. */
  | { readonly is: "halts" }
  | { readonly is: "resumes" }
  /** The relay has no place for us: everything is erased, and these wait for that. */
  | { readonly is: "gone"; readonly operations: readonly number[] }
  /** The channel is over, with its keys: these leave it by its name. */
  | { readonly is: "over"; readonly operations: readonly number[] };

export interface DepartureStep {
  readonly effects: readonly DepartureEffect[];
}

/** As of a process that starts. */
export function newDeparture(): DepartureState {
  return { departure: { at: "staying" }, numbers: 0 };
}

/** Of leaving, as the commits of this agent see it. */
export function stageOf({ departure }: DepartureState): "staying" | "leaving" | "goodbye" {
  if (departure.at === "staying") return "staying";
  if (departure.at === "gone") return "goodbye";
  const { at } = departure.going;
  return at === "closing" || at === "saying" ? "goodbye" : "leaving";
}
