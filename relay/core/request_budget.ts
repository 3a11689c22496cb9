/**
 * A budget of work for each account: a bucket that fills at a steady rate. Work above it is refused, with the time to
 * wait.
 */
import type { Cost } from "./fair_turns.ts";

export interface RequestBudgetOptions {
  /** Work that an account may begin at once. */
  readonly burst: Cost;
  /** Work that comes back in a second: a share of one core. */
  readonly perSecond: Cost;
}

interface Bucket {
  spent: Cost;
  atMs: number;
}

const maxAccounts = 100_000;

export class RequestBudget {
  readonly #options: RequestBudgetOptions;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: RequestBudgetOptions) {
    this.#options = options;
  }

  /** Takes the cost; returns how long to wait when there is not enough for it. */
  take(account: string, cost: Cost, nowMs: number): number | undefined {
    if (cost === 0) return undefined;
    const { burst, perSecond } = this.#options;
    const bucket = this.#buckets.get(account) ?? { spent: 0, atMs: nowMs };
    bucket.spent = Math.max(0, bucket.spent - Math.max(0, nowMs - bucket.atMs) * perSecond / 1_000);
    bucket.atMs = nowMs;
    if (this.#buckets.size >= maxAccounts) this.forget(nowMs);
    this.#buckets.set(account, bucket);
    // A cost above the capacity would wait for ever: it needs a full bucket.
    const excess = bucket.spent + Math.min(cost, burst) - burst;
    if (excess > 0) return Math.ceil(excess * 1_000 / perSecond);
    bucket.spent += cost;
    return undefined;
  }

  /** Drops buckets that are full again. */
  forget(nowMs: number): void {
    const { perSecond } = this.#options;
    for (const [account, { spent, atMs }] of this.#buckets) {
      if (spent <= (nowMs - atMs) * perSecond / 1_000) this.#buckets.delete(account);
    }
  }
}
