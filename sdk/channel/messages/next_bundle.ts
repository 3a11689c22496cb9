/**
 * The next bundle: taken from the queue, asked for, sealed, and given to the relay, if nothing
 * holds it up.
 */
import type { CounterRecord } from "../records.ts";
import { type Bundle, isAbandoned, type SealedBundle } from "./bundles.ts";
import { goneBefore, reserveCounters, takeCounters } from "./counters.ts";
import { forget, giveUp, numberOf, type OutboxRun, scatter, setApart, wake } from "./outbox_run.ts";
import {
  full,
  gathering,
  nothing,
  type OutboxFacts,
  type OutboxState,
  unheld,
} from "./outbox_state.ts";
import { countQueued, isEmptyQueue, putBack, takeBundle } from "./send_queue.ts";

/** How long a commit of another member may take to arrive. */
const catchUpMs = 30_000;
const [maxUnderWay, maxUnderWayBytes] = [32, 4 * 1024 * 1024];

/** `isTurn`: everything that is given in this turn of the event loop is here. */
export function goOn<M>(run: OutboxRun<M>, isTurn: boolean): void {
  const { state, facts, effects } = run;
  for (;;) {
    const { at } = state.next;
    if (
      !run.mayWork || at === "gathering" || at === "asking" || at === "sealing" || at === "over"
    ) return;
    if (!passHold(run)) return;
    if (at === "full" && state.underWay.length > 0) return;
    if (isEmptyQueue(state.queue) || !hasRoom(state, facts.epoch)) return;
    if (!isTurn) {
      state.next = gathering;
      return void effects.push({ type: "gather" });
    }
    state.next = nothing;
    sendNext(run);
  }
}

/**
 * Nothing of an epoch leaves while something of another one is under way, which might be refused
 * and come after it.
 */
function hasRoom<M>({ underWay }: OutboxState<M>, epoch: number): boolean {
  let bytes = 0;
  for (const { made } of underWay) {
    if (made?.sealed?.epoch !== epoch) return false;
    bytes += made.sealed.message.length;
  }
  return underWay.length < maxUnderWay && bytes < maxUnderWayBytes;
}

/**
 * Returns whether nothing holds messages up. A hold begins when everything that was under way is
 * back.
 */
function passHold<M>(run: OutboxRun<M>): boolean {
  const { state, facts } = run;
  const { hold } = state;
  switch (hold.at) {
    case "none":
      return true;
    case "waiting":
      return false;
    case "waiting_epoch":
      return facts.epoch >= hold.epoch && endHold(run);
    case "standing": {
      const { by } = hold;
      if (state.underWay.length > 0) return false;
      if (by.kind === "run" || (by.kind === "epoch" && facts.epoch >= by.epoch)) {
        return endHold(run);
      }
      state.hold = by.kind === "epoch"
        ? { at: "waiting_epoch", epoch: by.epoch, timer: wake(run, catchUpMs) }
        : { at: "waiting", timer: wake(run, facts.jitter(by.ms)) };
      return false;
    }
  }
}

export function endHold<M>({ state, effects }: OutboxRun<M>): true {
  state.hold = unheld;
  effects.push({ type: "begin_run" });
  return true;
}

function sendNext<M>(run: OutboxRun<M>): void {
  const { state, facts, effects } = run;
  const bundle = takeBundle(state.queue, facts);
  const [first] = bundle?.messages ?? [];
  if (bundle === undefined || first === undefined) return;
  if (first.group !== undefined && first.goes === "again") {
    const call = numberOf(run);
    state.next = { at: "asking", call, bundle, group: first.group };
    return void effects.push({ type: "ask", call, id: first.group.id });
  }
  if (first.group !== undefined && first.goes === "whole" && bundle.id !== first.group.id) {
    first.goes = "alone";
    setApart(run, first.group);
  }
  // One that may stand there goes as it was: the relay says whether it does.
  const { made } = bundle;
  const mayStand = bundle.fate.at === "may_stand";
  const sealed = made?.life === state.counters.life ? made.sealed : undefined;
  if (sealed !== undefined && (mayStand || sealed.epoch === facts.epoch)) {
    return depart(run, bundle, mayStand);
  }
  if (!facts.mayPost) return giveUp(run, bundle, { by: "silenced", mayStand });
  seal(run, bundle);
}

/** Under the counters that it has, in any epoch of this membership. */
function seal<M>(run: OutboxRun<M>, bundle: Bundle<M>): void {
  const { state, effects } = run;
  const { counters } = state;
  const { made, messages } = bundle;
  const isOfThisLife = made?.life === counters.life;
  const first = made !== undefined && isOfThisLife
    ? made.first
    : takeCounters(counters, messages.length);
  bundle.made = {
    first,
    life: counters.life,
    gone: goneBefore(counters, first),
    sealed: undefined,
  };
  const job = numberOf(run);
  state.next = { at: "sealing", job, bundle };
  effects.push({ type: "seal", job, bundle });
}

/** Whether no reservation on disk covers its counters. */
export function needsReservation<M>(
  { counters }: OutboxState<M>,
  { made, messages }: Bundle<M>,
): boolean {
  return made !== undefined && made.life === counters.life &&
    made.first + messages.length - 1 > counters.reserved;
}

/**
 * The keys of this job are about to be reserved: what this returns goes with them, in one write. It
 * is no step, and has no effects.
 */
export function reserveFor<M>(
  { next, counters, queue }: OutboxState<M>,
  job: number,
  { doAllReadBundles }: Pick<OutboxFacts, "doAllReadBundles">,
): CounterRecord | undefined {
  if (next.at !== "sealing" || next.job !== job) return undefined;
  return reserveCounters(
    counters,
    doAllReadBundles ? undefined : Math.min(countQueued(queue), maxUnderWay),
  );
}

export function hasSealed<M>(run: OutboxRun<M>, job: number, as: SealedBundle): void {
  const { state, facts } = run;
  const { next } = state;
  if (next.at !== "sealing" || next.job !== job) return;
  const { bundle } = next;
  state.next = nothing;
  if (bundle.made !== undefined) bundle.made.sealed = as;
  // The group may have moved before its keys were at work: the policy of the epoch in which it is
  // sealed counts.
  if (as.epoch === facts.epoch && !facts.mayPost) {
    return giveUp(run, bundle, { by: "silenced", mayStand: bundle.fate.at === "may_stand" });
  }
  depart(run, bundle);
}

/** The sealed bundle leaves, or waits again: much may have happened while it was sealed. */
function depart<M>(run: OutboxRun<M>, bundle: Bundle<M>, isAsItWas = false): void {
  const { state, facts, effects } = run;
  const { made, messages, fate } = bundle;
  const mayStand = fate.at === "may_stand";
  const isWanted = mayStand
    ? !isAbandoned(bundle)
    : messages.every(({ caller }) => caller !== "gone");
  const isReadable = messages.length === 1 || isAsItWas || facts.mayBundle;
  if (!isWanted || !isReadable) return scatter(run, bundle);
  const sealed = made?.life === state.counters.life ? made.sealed : undefined;
  const mayGo = run.mayWork && state.hold.at === "none";
  if (!mayGo || sealed === undefined || !hasRoom(state, sealed.epoch)) {
    if (state.underWay.length > 0) state.next = full;
    // Bundles that come back before this one leaves go first.
    if (!mayStand) forget(run, bundle);
    return putBack(state.queue, bundle);
  }
  const call = numberOf(run);
  bundle.fate = { at: "under_way", call, since: mayStand ? fate.since : undefined };
  state.underWay.push(bundle);
  effects.push({ type: "send", call, bundle, sealed });
}
