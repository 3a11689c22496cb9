/**
 * Limits how often a channel's log is fetched again. A single member or relay can cause fetches, so
 * all causes share one budget: a burst first, then one fetch per interval.
 */
const most = 8;
const refillMs = 10_000;
/** However many were reserved, the next begins within a minute. */
const maxOwed = 6;

export interface FetchBudget {
  /** The number of fetches; below zero when some were reserved. */
  left: number;
  countedAtMs: number;
}

export function newBudget(nowMs: number): FetchBudget {
  return { left: most, countedAtMs: nowMs };
}

/** Returns whether a fetch is left, for one that can be done without. */
export function takeFetch(budget: FetchBudget, nowMs: number): boolean {
  refill(budget, nowMs);
  if (budget.left < 1) return false;
  budget.left--;
  return true;
}

/** Returns in how many milliseconds a fetch that must happen may begin. */
export function reserveFetch(budget: FetchBudget, nowMs: number): number {
  refill(budget, nowMs);
  budget.left = Math.max(budget.left - 1, -maxOwed);
  return budget.left >= 0 ? 0 : Math.ceil(-budget.left * refillMs);
}

function refill(budget: FetchBudget, nowMs: number): void {
  // A clock that is set back gives nothing, and takes nothing.
  budget.left = Math.min(most, budget.left + Math.max(0, nowMs - budget.countedAtMs) / refillMs);
  budget.countedAtMs = nowMs;
}
