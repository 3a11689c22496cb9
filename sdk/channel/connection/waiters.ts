/**
 * `recover()` waits until the entries in front of the commit at which the channel is stopped are
 * here. An agent that comes back is given those once more, and a founding passes over what has not
 * arrived.
 */
import { isAsking, type LinkRun, wake } from "./link_run.ts";
import type { LinkEvent } from "./link_state.ts";

/** How long the next entry is waited for. */
const entryMs = 30_000;
/** A relay that hands them out one by one must not keep the channel stopped. */
const maxWaits = 10;

export function wait<N>(
  run: LinkRun<N>,
  { operation }: Extract<LinkEvent<N>, { type: "wait" }>,
): void {
  const { state: { arrival }, effects } = run;
  if (arrival.isOver) return void effects.push({ type: "settle", operation, result: "now" });
  arrival.waiting.push({ operation, timer: wake(run, entryMs), seen: arrival.events, waits: 1 });
}

/**
 * The log is to be read anew, and may be another one: entries come again. Without a stop nothing
 * stands in front of it.
 */
export function startArrival<N>(run: LinkRun<N>): void {
  const { arrival } = run.state;
  arrival.events++;
  if (run.facts.place.at === "stopped") arrival.isOver = false;
  else endArrival(run);
}

/** One of them is here, or is on its way. */
export function arriving<N>({ state: { arrival } }: LinkRun<N>): void {
  arrival.events++;
}

/** All of them are here, or the channel is not stopped any more. */
export function endArrival<N>({ state: { arrival }, effects }: LinkRun<N>): void {
  arrival.isOver = true;
  for (const { operation } of arrival.waiting.splice(0)) {
    effects.push({ type: "settle", operation, result: "now" });
  }
}

/** Returns whether it was the timer of somebody that waits. */
export function waitedLong<N>(run: LinkRun<N>, timer: number): boolean {
  const { state: { arrival }, effects } = run;
  const at = arrival.waiting.findIndex((waiter) => waiter.timer === timer);
  const waiter = arrival.waiting[at];
  if (waiter === undefined) return false;
  const isOver = waiter.waits >= maxWaits ||
    (waiter.seen === arrival.events && !isAsking(run.state));
  if (isOver) {
    arrival.waiting.splice(at, 1);
    effects.push({ type: "settle", operation: waiter.operation, result: "late" });
  } else {
    Object.assign(waiter, {
      timer: wake(run, entryMs),
      seen: arrival.events,
      waits: waiter.waits + 1,
    });
  }
  return true;
}
