/** One step of our own commits under way, and the few things that all of its parts say. */
import {
  type ChangeOutcome,
  type ChangeRefusal,
  type CommitEffect,
  type CommitFacts,
  type CommitsState,
  type CommitWrite,
  type OwnCommitState,
  type QueuedPlan,
} from "./own_commit_state.ts";

export interface CommitRun<P> {
  readonly state: CommitsState<P>;
  readonly facts: CommitFacts<P>;
  readonly effects: CommitEffect<P>[];
  write: CommitWrite | undefined;
}

export function numberOf<P>({ state }: CommitRun<P>): number {
  return ++state.numbers;
}

export function wake<P>(run: CommitRun<P>, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs });
  return timer;
}

/** Whether the first plan is what this commit does. */
export function isOfPlan(commit: OwnCommitState): boolean {
  switch (commit.at) {
    case "sent":
    case "asking":
    case "overtaken":
      return !commit.isAgain;
    default:
      return commit.at === "preparing" || commit.at === "checking" || commit.at === "resting";
  }
}

/**
 * Returns whether the commit's copy was lost with the connection: the commit is asked for and sent
 * again with a permit, and not before.
 */
export function isHeldBack<P>({ state: { commit }, facts: { work } }: CommitRun<P>): boolean {
  return commit.at === "asking" && commit.next === "send" && work === undefined;
}

/** Nobody says whether the relay has acted on it. */
export function isLost({ code }: ChangeRefusal): boolean {
  return code === "transport_error" || code === "connection_error" || code === "internal";
}

/** The first plan is over. */
export function settleFirst<P>(run: CommitRun<P>, result: ChangeOutcome): void {
  const plan = run.state.plans.shift();
  if (plan !== undefined) settle(run, plan, result);
}

export function settle<P>(
  { effects }: CommitRun<P>,
  { operation }: QueuedPlan<P>,
  result: ChangeOutcome,
): void {
  effects.push({ type: "settle", operation, result });
}

/** An entry that waits is looked at again, or is none of ours. */
export function explain<P>(
  { state, effects }: CommitRun<P>,
  as: "settled" | "not_ours" | "unknown",
): void {
  if (state.entry === undefined) return;
  effects.push({ type: "explained", reading: state.entry.reading, as });
  state.entry = undefined;
}

export function tellFate<P>({ state, effects }: CommitRun<P>, why?: ChangeRefusal): void {
  if (state.fate === undefined) return;
  effects.push({ type: "fate_told", call: state.fate, why });
  state.fate = undefined;
}
