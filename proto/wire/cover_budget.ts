/**
 * The budget of cover traffic: bytes for each account in a UTC day or calendar month. It stops
 * cover, never messages, and all accounts start anew together when the period ends. Kept in memory:
 * a restart starts it anew too.
 */

/** Both by UTC. */
export type BudgetPeriod = "day" | "month";

/** How much cover traffic may use, and how often that begins anew. */
export interface CoverBudgetOptions {
  /** Of cells without content, both directions together. */
  readonly bytes: number;
  /** When it begins anew. */
  readonly period: BudgetPeriod;
}

export class CoverBudget {
  readonly #options: CoverBudgetOptions;
  readonly #spent = new Map<string, number>();
  #endMs = -Infinity;

  constructor(options: CoverBudgetOptions) {
    this.#options = options;
  }

  /** Cover that has passed. Returns when cover may go on; undefined while something is left. */
  spend(account: string, bytes: number, nowMs: number): number | undefined {
    const endMs = periodEndMs(this.#options.period, nowMs);
    if (endMs !== this.#endMs) this.#spent.clear();
    this.#endMs = endMs;
    const spent = (this.#spent.get(account) ?? 0) + bytes;
    if (bytes > 0) this.#spent.set(account, spent);
    return spent >= this.#options.bytes ? endMs : undefined;
  }
}

function periodEndMs(period: BudgetPeriod, nowMs: number): number {
  const date = new Date(nowMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return period === "month"
    ? Date.UTC(year, month + 1)
    : Date.UTC(year, month, date.getUTCDate() + 1);
}
