/** Effects of a step of the root. */
import type { RootEffect, RootEvent, RootFacts, RootState } from "./root_state.ts";

export interface RootRun {
  readonly state: RootState;
  readonly facts: RootFacts;
  readonly effects: RootEffect[];
}

export function tell({ effects }: RootRun, effect: RootEffect): void {
  effects.push(effect);
}

/** When what stands before it is carried out: the facts are other ones then. */
export function then(run: RootRun, event: RootEvent): void {
  tell(run, { to: "self", tell: { type: "then", event } });
}

export function wake(run: RootRun, afterMs: number): number {
  const timer = ++run.state.numbers;
  tell(run, { to: "self", tell: { type: "wake", timer, afterMs } });
  return timer;
}
