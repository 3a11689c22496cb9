/** One step of the link under way, and the few things that all of its parts say. */
import type { Permit } from "./permit.ts";
import type { LinkEffect, LinkFacts, LinkState, LinkStep } from "./link_state.ts";

/** Two of the largest messages on their way, and many small ones. */
export const windowBytes = 4 * 1024 * 1024;

/** One step under way: the state, what is known beside it, and what has come of it so far. */
export interface LinkRun<N> {
  readonly state: LinkState<N>;
  readonly facts: LinkFacts;
  readonly effects: LinkEffect<N>[];
  write: LinkStep<N>["write"];
}

export function permitOf({ link }: Pick<LinkState<unknown>, "link">): Permit | undefined {
  return "permit" in link ? link.permit : undefined;
}

/**
 * Permission to send and to commit: our place is in the group that the log has, and this connection
 * has shown it.
 */
export function workOf(
  state: Pick<LinkState<unknown>, "link">,
  { place }: Pick<LinkFacts, "place">,
): Permit | undefined {
  return place.at === "in_step" ? permitOf(state) : undefined;
}

/** Whether the relay has not been asked for entries yet, or has not agreed. */
export function isAsking({ link }: Pick<LinkState<unknown>, "link">): boolean {
  return link.at === "settling" || link.at === "pausing";
}

export function numberOf<N>({ state }: LinkRun<N>): number {
  return ++state.numbers;
}

export function wake<N>(run: LinkRun<N>, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}
