/**
 * Acknowledgements: of the entries that we have read, so that the relay sends more, and of those
 * that the program is done with, so that it keeps them no longer. The latter takes a permit:
 * before, our positions may be of another log. It ends in front of the commit at which we are
 * stopped. Behind it the relay may have begun a membership of ours by a Welcome that we have
 * refused, and an acknowledgement there says that we took it.
 */
import { type LinkRun, permitOf, wake, windowBytes } from "./link_run.ts";
import type { LinkFacts, SubscriptionReply, TakenEntry } from "./link_state.ts";

/**
 * Acknowledgements are collected for this long: the relay trims the log by them, and nobody waits.
 */
const acknowledgeMs = 100;

export function subscribed<N>(
  { state }: LinkRun<N>,
  { after, consumed, log }: SubscriptionReply,
): void {
  const { window } = state;
  state.log = log;
  window.consumed = consumed;
  window.received = after;
  window.bytesSince = 0;
}

/** An entry was read. */
export function taken<N>(run: LinkRun<N>, { sequence, bytes }: TakenEntry): void {
  const { window, link } = run.state;
  // The entry may come from a connection that is over, or from an earlier stream. Then its position
  // may be one of another log.
  if (!("stream" in link) || link.stream?.begun !== true) return;
  window.received = Math.max(window.received, sequence);
  window.bytesSince += bytes;
  if (window.bytesSince >= windowBytes / 4) acknowledge(run);
}

/** The program is done with more, and that is on disk. */
export function durable<N>(run: LinkRun<N>): void {
  const { window } = run.state;
  if (permitOf(run.state) === undefined || doneWith(run.facts) <= window.consumed) return;
  window.timer ??= wake(run, acknowledgeMs);
}

export function acknowledge<N>(run: LinkRun<N>): void {
  const { state, facts, effects } = run;
  const { window } = state;
  window.timer = undefined;
  window.bytesSince = 0;
  if (permitOf(state) !== undefined) window.consumed = Math.max(window.consumed, doneWith(facts));
  window.received = Math.max(window.received, window.consumed);
  effects.push({ type: "acknowledge", consumed: window.consumed, received: window.received });
}

/** The last entry that the relay may forget for us. */
export function doneWith({ durable, place }: LinkFacts): number {
  return place.at === "stopped" ? Math.min(durable, place.sequence - 1) : durable;
}
