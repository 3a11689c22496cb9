/**
 * The root of a channel: whether it works, and who hears what the other rooms have found. It is
 * plain data, and `stepRoot` alone changes it. Everything else about a channel is in its rooms,
 * which the root reads as facts.
 */
import type { AgentId, ChannelEndReason, NoticeBody } from "../../../proto/mod.ts";
import type { StaticError } from "../../base/errors.ts";
import type { ChangeRefusal } from "../commits/own_commit_state.ts";
import type { LinkPlace, ReadingStart } from "../connection/link_state.ts";
import type { Doubt, Permit } from "../connection/permit.ts";
import type { DepartureEnd } from "../departure/departure_state.ts";
import type { LeaveStage } from "../departure/stage.ts";
import type { ReadingFinding } from "../reading/reading_state.ts";
import type { RecoveryEvent, RecoveryFinding } from "../recovery/recovery_state.ts";

export type Root =
  /** As on disk: nothing works before the names of the agent know it. */
  | { readonly at: "made" }
  /** Not all of the log is read, as far as is known. */
  | { readonly at: "behind" }
  /** The program was told that all is read. */
  | { readonly at: "ready" }
  /** The program closes it: handlers of requests end first. */
  | { readonly at: "ending_handlers"; readonly timer: number }
  /** Then messages and a change of keys that are under way. */
  | { readonly at: "ending_calls"; readonly timer: number }
  /** Then what is left goes to disk. */
  | { readonly at: "writing" }
  | EndedChannel;

/** `error` is for loops, which end quietly without one; `toOthers` for calls. */
export interface EndedChannel {
  readonly at: "over";
  readonly error: StaticError | undefined;
  readonly toOthers: StaticError;
}

export type RelayEndReason = Exclude<ChannelEndReason, "lapsed"> | "unknown";

/** The commit that removed us. */
export type Removal = Pick<NoticeBody<"DeliverCommit">, "sender" | "timeMs">;

export interface RootState {
  root: Root;
  /** Why the channel is over, as the relay said last: words for when it is. */
  said: RelayEndReason;
  removal: Removal | undefined;
  /** The last number that was given to a timer. */
  numbers: number;
}

/** Knowledge of the rooms at the moment of a step. */
export interface RootFacts {
  readonly session: "online" | "offline" | "ended";
  /** With which the session has ended. */
  readonly sessionError: StaticError | undefined;
  readonly permit: Permit | undefined;
  /** All of the log is read, as far as the relay has said where it ends. */
  readonly isAllRead: boolean;
  /** The place as the link sees it: stopped with any bad commit, outside with any way back. */
  readonly place: LinkPlace["at"];
  readonly isOnWayBack: boolean;
  /** The way back rests on nothing but the relay's word. */
  readonly isByWord: boolean;
  readonly hasFoundings: boolean;
  /** The stage of leaving. */
  readonly stage: LeaveStage;
  /** The generation of our group. */
  readonly generation: number;
  /** Messages were passed over, and there is room for them again. */
  readonly hasRoom: boolean;
  /** The end of the channel is the answer to what leaving asks for. */
  readonly isAskedFor: (end: ChannelEndReason | "unknown") => boolean;
  /** A member signed that it has left for this generation. */
  readonly hasLeftFor: (asker: DeliveredRejoinRequest, generation: number) => boolean;
  /** The member asks from where we know it to be: it cannot follow either. */
  readonly isStuckHere: (asker: DeliveredRejoinRequest) => boolean;
  readonly errors: RootErrors;
}

/** Words for the end. */
export interface RootErrors {
  readonly removed: (by: Removal | undefined) => StaticError;
  readonly ended: (said: RelayEndReason) => StaticError;
  readonly left: () => StaticError;
  readonly closed: () => StaticError;
  readonly failed: (fault: unknown) => StaticError;
}

export type DeliveredRejoinRequest = NoticeBody<"DeliverRejoinRequest">;

/** A generation that our group is in now. */
export interface EnteredGeneration {
  readonly sequence: number;
  readonly epoch: number;
}

/** From all the rooms, the relay and the program: one door. */
export type RootEvent =
  /** The names of the agent know the channel, or end it with the client. */
  | { readonly from: "names"; readonly type: "begin" | "halt" }
  /** The connection has come, is gone, or is over for good. */
  | { readonly from: "session"; readonly type: "connection" }
  /** The program closes the channel. */
  | { readonly from: "program"; readonly type: "close" }
  /**
   * A handler of requests is not running any more; messages are sent; all is on disk, or cannot be.
   */
  | { readonly from: "self"; readonly type: "handlers_ended" | "calls_ended" | "written" }
  /** Handlers or calls have not ended in the time that closing gives them. */
  | { readonly from: "self"; readonly type: "time"; readonly timer: number }
  /** Behind what an earlier finding has caused. */
  | { readonly from: "self"; readonly type: "permitted" | "go_on"; readonly permit: Permit }
  /** Rooms were told, and the rest follows: is everything read; another membership works. */
  | { readonly from: "self"; readonly type: "look" | "membership_entered" }
  /** Rooms were told of another generation, and its log is read from now on. */
  | { readonly from: "self"; readonly type: "generation_entered"; readonly isOwn: boolean }
  /** The work itself failed: a disk that does not write, or a mistake of ours. */
  | { readonly from: "any"; readonly type: "fault"; readonly fault: unknown }
  /** Words of the relay that stand in no log. */
  | { readonly from: "relay"; readonly type: "asks_back"; readonly asker: DeliveredRejoinRequest }
  /** The relay says that the channel has ended for this agent, and why. */
  | { readonly from: "relay"; readonly type: "ends"; readonly reason: ChannelEndReason | "unknown" }
  /** The link has judged the connection, or lost the log. */
  | { readonly from: "link"; readonly finding: LinkFinding }
  /** Reading has met something that other rooms have to know. */
  | { readonly from: "reading"; readonly finding: RootReading }
  /** The place of this agent in the group has changed. */
  | { readonly from: "recovery"; readonly finding: RootRecovery }
  /** Leaving has come further, or has ended. */
  | { readonly from: "departure"; readonly finding: DepartureFinding }
  /** A commit of ours can lead nowhere. */
  | { readonly from: "commits"; readonly finding: Extract<RecoveryEvent, { type: "out_of_step" }> }
  /** The group has moved by a commit. */
  | { readonly from: "group"; readonly type: "moved" }
  /** The program is done with messages. */
  | { readonly from: "inbox"; readonly type: "taken" }
  /** How far the program is done with them is on disk. */
  | { readonly from: "position"; readonly type: "durable" };

export type LinkFinding =
  | { readonly is: "subscribed"; readonly generation: number }
  /** This connection has shown that we may act. */
  | { readonly is: "cleared"; readonly permit: Permit; readonly begins: ReadingStart }
  /** The same, of the connection that had shown it before. */
  | { readonly is: "resumed"; readonly permit: Permit }
  /** The permit is gone. */
  | { readonly is: "rests" }
  | { readonly is: "log_lost" }
  | { readonly is: "doubted"; readonly doubt: Doubt };

export type RootReading = ReadingFinding;

export type RootRecovery =
  | Exclude<RecoveryFinding, { readonly type: "generation" | "retry" }>
  | { readonly type: "retry"; readonly why: ChangeRefusal | undefined }
  | { readonly type: "generation"; readonly begun: EnteredGeneration; readonly isOwn: boolean }
  /** Another membership is on disk. */
  | { readonly type: "replaced"; readonly joinedSequence: number; readonly formerEpoch: number }
  /** A step was carried out. */
  | { readonly type: "stepped" };

export type DepartureFinding =
  | { readonly is: "stage"; readonly before: LeaveStage }
  | { readonly is: "asks_founding" }
  | { readonly is: "ended"; readonly how: DepartureEnd; readonly operations: readonly number[] };

/** Rooms are told in this order, each when the one before has carried it out. */
export type RootEffect =
  | { readonly to: "link"; readonly tell: ToLink }
  | { readonly to: "recovery"; readonly tell: ToRecovery }
  | { readonly to: "departure"; readonly tell: ToDeparture }
  | { readonly to: "duties"; readonly tell: ToDuties }
  | { readonly to: "commits"; readonly tell: "look" | "left" | "replaced" }
  | { readonly to: "outbox"; readonly tell: "look" | "replaced" }
  | { readonly to: "confirmations"; readonly tell: ToConfirmations }
  | { readonly to: "reading"; readonly tell: ToReading }
  | { readonly to: "position"; readonly tell: ToPosition }
  /** Requests and replies. */
  | { readonly to: "content"; readonly tell: { readonly type: "connected"; readonly head: number } }
  /** Names and keys of members are looked at anew. */
  | { readonly to: "members"; readonly tell: "begun" | "replaced" }
  | { readonly to: "names"; readonly tell: ToNames }
  | { readonly to: "program"; readonly tell: "ready" }
  /** Work that the state waits for when the channel closes; each piece ends with an event. */
  | { readonly to: "self"; readonly tell: "end_handlers" | "end_calls" | "write" }
  | {
    readonly to: "self";
    readonly tell: { readonly type: "wake"; readonly timer: number; readonly afterMs: number };
  }
  | { readonly to: "self"; readonly tell: { readonly type: "then"; readonly event: RootEvent } }
  /** Nothing of it works any more. */
  | {
    readonly to: "all";
    readonly tell: {
      readonly type: "end";
      readonly over: EndedChannel;
      readonly how: DepartureEnd;
    };
  };

export type ToLink =
  | { readonly type: "connection"; readonly isOnline: boolean }
  | { readonly type: "all_arrived" | "hold" | "retry" | "out_of_step" | "asked_back" | "durable" }
  | { readonly type: "fetch"; readonly afterMs: number };

export type ToRecovery =
  | Extract<RecoveryEvent, {
    type:
      | "connected"
      | "permit"
      | "doubt"
      | "log_at"
      | "ended"
      | "out_of_step"
      | "stop_read"
      | "removed"
      | "asker"
      | "all_shown"
      | "leaves"
      | "halt"
      | "resume";
  }>
  | Extract<ReadingFinding, { is: "stopped" | "behind_stop" }>;

export type ToDeparture =
  | { readonly type: "entered" | "look" | "told" }
  | { readonly type: "founding"; readonly why: ChangeRefusal | undefined };

export type ToDuties =
  | { readonly type: "start" | "rest" }
  | { readonly type: "left"; readonly agentId: AgentId }
  | { readonly type: "asked"; readonly asker: DeliveredRejoinRequest };

export type ToConfirmations =
  | { readonly type: "connection"; readonly isOnline: boolean }
  | { readonly type: "confirm" }
  | { readonly type: "replaced"; readonly formerEpoch: number };

export type ToReading =
  | { readonly type: "begins"; readonly after: number; readonly head: number }
  | { readonly type: "founded"; readonly begun: EnteredGeneration }
  | { readonly type: "replaced"; readonly joinedSequence: number }
  | { readonly type: "lost" | "room" };

export type ToPosition =
  | { readonly type: "lost"; readonly after: number }
  | { readonly type: "log"; readonly log: Uint8Array | undefined }
  | { readonly type: "replaced"; readonly joinedSequence: number }
  | { readonly type: "forgotten" | "flush" };

export type ToNames =
  | { readonly type: "rejoined" }
  | { readonly type: "ended"; readonly how: DepartureEnd; readonly operations: readonly number[] };

export interface RootStep {
  readonly effects: readonly RootEffect[];
}

/** Returns the root of a process that starts. */
export function newRoot(): RootState {
  return { root: { at: "made" }, said: "unknown", removal: undefined, numbers: 0 };
}
