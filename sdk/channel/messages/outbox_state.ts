/**
 * The state of messages on their way out: those that wait, the next bundle, those that are under
 * way, and the reason why nothing leaves. It is plain data, and `stepOutbox` alone changes it. `M`
 * is the content of a message, and who waits for it: no step looks at that.
 */
import type { MessageId } from "../../../proto/mod.ts";
import type { Permit } from "../connection/permit.ts";
import type { CounterRecord } from "../records.ts";
import type {
  Bundle,
  BundlingOptions,
  OutgoingMessage,
  SealedBundle,
  SendGroup,
} from "./bundles.ts";
import { counterRecord, type Counters, restoreCounters } from "./counters.ts";
import type { Obstacle, SendRefusal } from "./obstacles.ts";
import { countQueued, isEmptyQueue, newSendQueue, type SendQueue } from "./send_queue.ts";

/** The bundle that goes next. */
export type NextBundle<M> =
  /** Nothing is to be sent, or nothing may be. */
  | { readonly at: "none" }
  /** Nothing can go before something that is under way is back. */
  | { readonly at: "full" }
  /** Until the turn of the event loop ends: messages that are given in one turn go together. */
  | { readonly at: "gathering" }
  /** The relay is asked whether an earlier process has sent this group. */
  | {
    readonly at: "asking";
    readonly call: number;
    readonly bundle: Bundle<M>;
    readonly group: SendGroup;
  }
  /** The bundle is sealed: its keys and counters go to disk first. */
  | { readonly at: "sealing"; readonly job: number; readonly bundle: Bundle<M> }
  /** For good. */
  | { readonly at: "over" };

/** Why nothing leaves. */
export type OutboxHold =
  /** Nothing holds messages back. */
  | { readonly at: "none" }
  /**
   * Until everything that is under way is back. `isDissolving`: a bundle was refused as too much
   * for the quota, and what was behind it was refused because of it.
   */
  | { readonly at: "standing"; readonly by: Obstacle; readonly isDissolving: boolean }
  /** Waits as long as the relay has asked for, half to one and a half of it. */
  | { readonly at: "waiting"; readonly timer: number }
  /** Waits for a commit that is not here yet. */
  | { readonly at: "waiting_epoch"; readonly epoch: number; readonly timer: number };

export interface OutboxState<M> {
  readonly queue: SendQueue<M>;
  next: NextBundle<M>;
  readonly underWay: Bundle<M>[];
  hold: OutboxHold;
  readonly counters: Counters;
  /** Settled counters are noted when it ends. */
  noting: { readonly timer: number } | undefined;
  /**
   * There was no permission to work when it was looked at last, and those that are queued were
   * told.
   */
  isResting: boolean;
  /** They wait until nothing waits here and nothing is under way. */
  whenEmpty: readonly number[];
  /** The last number that was given to a call, a job or a timer. */
  numbers: number;
}

/** Knowledge of the other rooms at the moment of a step. */
export interface OutboxFacts extends BundlingOptions {
  /** A permit, and our place is in step. */
  readonly work: Permit | undefined;
  readonly epoch: number;
  /** The policy lets this agent speak in this epoch. */
  readonly mayPost: boolean;
  /** Every member of this epoch reads bundles, and understands which counters are gone. */
  readonly doAllReadBundles: boolean;
  readonly nowMs: number;
  /** Between half and one and a half of it. */
  readonly jitter: (ms: number) => number;
}

export type OutboxEvent<M> =
  /** A message is given to be sent. */
  | { readonly type: "send"; readonly message: OutgoingMessage<M> }
  /** The caller of a message has given up, and is told. */
  | { readonly type: "withdrawn"; readonly order: number }
  /** The time of a message is over. */
  | { readonly type: "expired"; readonly order: number }
  /** The turn of the event loop has ended: what it gave goes together. */
  | { readonly type: "gathered" }
  /** The keys and counters of the bundle are durable. */
  | { readonly type: "sealed"; readonly job: number; readonly sealed: SealedBundle }
  /** The relay has taken the bundle. `isDuplicate`: it had it already. */
  | { readonly type: "taken"; readonly call: number; readonly isDuplicate: boolean }
  /** The relay has answered whether a group stands in the log. */
  | { readonly type: "asked"; readonly call: number; readonly stands: boolean }
  /** The relay has refused the call, or its answer was lost. */
  | { readonly type: "refused"; readonly call: number; readonly why: SendRefusal }
  /** A timer has run out: a hold is over, or counters are noted. */
  | { readonly type: "time"; readonly timer: number }
  /** The permit, the place or our epoch has changed. */
  | { readonly type: "look" }
  /** Another membership: counters begin anew, for us and for those who count. */
  | { readonly type: "entered"; readonly operation: number }
  /** The channel is closed here. */
  | { readonly type: "closing"; readonly operation: number }
  /** Somebody waits until all that was given has left. */
  | { readonly type: "when_empty"; readonly operation: number }
  /** The channel is over: all that wait are rejected. */
  | { readonly type: "over" };

export type Rejection =
  | { readonly by: "refused"; readonly why: SendRefusal }
  /** `isTried`: the relay was given it. */
  | { readonly by: "expired"; readonly isTried: boolean }
  /** Only owners speak. `mayStand`: the relay may have taken it before that was so. */
  | { readonly by: "silenced"; readonly mayStand: boolean }
  /** The commit that led the log to this epoch has not arrived. */
  | { readonly by: "not_arrived"; readonly epoch: number }
  | { readonly by: "over" };

export type OutboxEffect<M> =
  | { readonly type: "gather" }
  | { readonly type: "ask"; readonly call: number; readonly id: MessageId }
  | { readonly type: "seal"; readonly job: number; readonly bundle: Bundle<M> }
  | {
    readonly type: "send";
    readonly call: number;
    readonly bundle: Bundle<M>;
    readonly sealed: SealedBundle;
  }
  /**
   * The relay lets nothing of a run overtake what it refused of it: what is sent from here on is of
   * another one.
   */
  | { readonly type: "begin_run" }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  /** To be written beside all others: nobody waits, and nothing rests on it. */
  | { readonly type: "note"; readonly record: CounterRecord }
  | { readonly type: "settle"; readonly operation: number }
  /**
   * The relay was given it, and is not any more. `mayStand`: nobody can tell whether it stands in
   * the log.
   */
  | {
    readonly type: "dropped";
    readonly counter: number;
    readonly epoch: number;
    readonly mayStand: boolean;
  }
  /** The relay has them. */
  | { readonly type: "accepted"; readonly messages: readonly OutgoingMessage<M>[] }
  /** The caller need not wait: the message is sent later. */
  | { readonly type: "queued"; readonly message: OutgoingMessage<M> }
  | { readonly type: "rejected"; readonly message: OutgoingMessage<M>; readonly why: Rejection }
  /** One that was queued, and whose caller was told so. */
  | { readonly type: "undelivered"; readonly why: Rejection }
  /** The relay says that it had a message already which this agent has sent once. */
  | { readonly type: "false_duplicate" };

export interface OutboxStep<M> {
  readonly write: CounterRecord | undefined;
  readonly effects: readonly OutboxEffect<M>[];
}

/** Restores the outbox of a process that starts. Messages are in memory alone. */
export function restoreOutbox<M>(counters: CounterRecord): OutboxState<M> {
  return {
    queue: newSendQueue(),
    next: nothing,
    underWay: [],
    hold: unheld,
    counters: restoreCounters(counters),
    noting: undefined,
    isResting: true,
    whenEmpty: nobody,
    numbers: 0,
  };
}

/**
 * Without everything that is in memory alone: `restoreOutbox` must make the same of what is on
 * disk.
 */
export function forgetOutbox<M>({ counters }: OutboxState<M>): OutboxState<M> {
  return restoreOutbox(counterRecord(counters));
}

export const nobody: readonly number[] = Object.freeze([]);
export const nothing: NextBundle<never> = Object.freeze({ at: "none" });
export const full: NextBundle<never> = Object.freeze({ at: "full" });
export const gathering: NextBundle<never> = Object.freeze({ at: "gathering" });
export const unheld: OutboxHold = Object.freeze({ at: "none" });

/** Yields the messages that the relay does not have, in the order in which they leave. */
export function* allMessages<M>(
  { underWay, next, queue }: OutboxState<M>,
): Generator<OutgoingMessage<M>> {
  for (const { messages } of underWay) yield* messages;
  if ("bundle" in next) yield* next.bundle.messages;
  for (const { messages } of queue.bundles) yield* messages;
  yield* queue.messages;
}

export function isEmpty<M>({ underWay, next, queue }: OutboxState<M>): boolean {
  return underWay.length === 0 && !("bundle" in next) && isEmptyQueue(queue);
}

/** Returns the timers that the state waits for. */
export function timersOf<M>({ hold, noting }: OutboxState<M>): readonly (number | undefined)[] {
  return ["timer" in hold ? hold.timer : undefined, noting?.timer];
}

export function outboxSize<M>(
  { queue, next, underWay }: OutboxState<M>,
): { readonly waiting: number; readonly underWay: number } {
  const waiting = countQueued(queue) + ("bundle" in next ? next.bundle.messages.length : 0);
  return { waiting, underWay: underWay.reduce((sum, { messages }) => sum + messages.length, 0) };
}
