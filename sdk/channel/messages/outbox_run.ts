/**
 * One step of the outbox under way, and the few things that all of its parts say: how messages and
 * bundles end, or wait again.
 */
import type { CounterRecord } from "../records.ts";
import {
  type Bundle,
  countersOf,
  isQueued,
  mayStand,
  orderOf,
  type OutgoingMessage,
  type SendGroup,
} from "./bundles.ts";
import { giveUpCounters } from "./counters.ts";
import {
  allMessages,
  type OutboxEffect,
  type OutboxFacts,
  type OutboxState,
  type Rejection,
} from "./outbox_state.ts";
import { removeBundle, removeMessage, scatterInto } from "./send_queue.ts";

export interface OutboxRun<M> {
  readonly state: OutboxState<M>;
  readonly facts: OutboxFacts;
  /** There is a permit in step. */
  readonly mayWork: boolean;
  readonly effects: OutboxEffect<M>[];
  write: CounterRecord | undefined;
}

export function numberOf<M>({ state }: OutboxRun<M>): number {
  return ++state.numbers;
}

export function wake<M>(run: OutboxRun<M>, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}

/** Rejects a message that is held nowhere any more. */
export function reject<M>(
  { effects }: OutboxRun<M>,
  message: OutgoingMessage<M>,
  why: Rejection,
): void {
  if (message.caller === "waits") effects.push({ type: "rejected", message, why });
  else if (message.caller === "told" && why.by !== "over") {
    effects.push({ type: "undelivered", why });
  }
}

/** Tells the caller of a message that it need not wait for the connection. */
export function tellQueued<M>({ effects }: OutboxRun<M>, message: OutgoingMessage<M>): void {
  if (!isQueued(message) || message.caller !== "waits") return;
  message.caller = "told";
  effects.push({ type: "queued", message });
}

/** Nothing will be sent under its counters any more. */
export function forget<M>(run: OutboxRun<M>, bundle: Bundle<M>): void {
  const { state: { counters, queue } } = run;
  if (bundle.fate.at !== "unsent") drop(run, bundle, mayStand(bundle));
  const unmake = (each: Bundle<M>): void => {
    const range = countersOf(each);
    if (range !== undefined && each.made?.life === counters.life) giveUpCounters(counters, range);
    each.made = undefined;
  };
  unmake(bundle);
  // Counters grow with what goes: those behind it take later ones too, unless the relay may know
  // them.
  for (const each of queue.bundles) {
    if (each.fate.at === "unsent" && each.made !== undefined && orderOf(each) > orderOf(bundle)) {
      unmake(each);
    }
  }
}

export function drop<M>({ effects }: OutboxRun<M>, { made }: Bundle<M>, mayStand: boolean): void {
  if (made?.sealed === undefined) return;
  effects.push({ type: "dropped", counter: made.first, epoch: made.sealed.epoch, mayStand });
}

/**
 * A bundle that the relay does not have: its counters are gone, and its messages wait again in
 * their place.
 */
export function scatter<M>(run: OutboxRun<M>, bundle: Bundle<M>): void {
  forget(run, bundle);
  scatterInto(run.state.queue, bundle.messages.filter(({ caller }) => caller !== "gone"));
}

/** Gives up a bundle: it is not sent any more. */
export function giveUp<M>(run: OutboxRun<M>, bundle: Bundle<M>, why: Rejection): void {
  forget(run, bundle);
  for (const message of bundle.messages) reject(run, message, why);
}

/** Returns those of a group that wait, in no bundle. */
export function takeGroup<M>(
  { state: { queue } }: OutboxRun<M>,
  group: SendGroup,
): OutgoingMessage<M>[] {
  return queue.messages.filter((each) => each.group === group).filter((each) =>
    removeMessage(queue, each)
  );
}

/** From here on each of them goes alone. */
export function setApart<M>({ state }: OutboxRun<M>, group: SendGroup): void {
  for (const message of allMessages(state)) if (message.group === group) message.goes = "alone";
}

/**
 * Gives up all messages except those that may wait for longer, and those that may stand: the relay
 * says first whether they do.
 */
export function giveUpAll<M>(run: OutboxRun<M>, why: Rejection): void {
  const { queue } = run.state;
  for (const bundle of [...queue.bundles]) {
    if (bundle.fate.at === "may_stand") continue;
    removeBundle(queue, bundle);
    scatter(run, bundle);
  }
  for (const message of [...queue.messages]) {
    if (!isQueued(message) && removeMessage(queue, message)) reject(run, message, why);
  }
}
