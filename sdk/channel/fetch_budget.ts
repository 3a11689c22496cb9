/**
 * How often a channel's log may be fetched again. Whatever one member seals or one relay delivers can make us want that, so
 * there is one budget for all reasons: some at once, then one from time to time.
 */
const most = 8;
const refillMs = 10_000;
/** However many were reserved, the next begins within a minute. */
const maxOwed = 6;

export class FetchBudget {
  readonly #nowMs: () => number;
  #left = most;
  #countedAtMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#countedAtMs = nowMs();
  }

  /** For a fetch that can be done without: whether there is one left. */
  take(): boolean {
    this.#refill();
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  /** For a fetch that must happen: returns in how many milliseconds it may begin. */
  reserve(): number {
    this.#refill();
    this.#left = Math.max(this.#left - 1, -maxOwed);
    return this.#left >= 0 ? 0 : Math.ceil(-this.#left * refillMs);
  }

  #refill(): void {
    const nowMs = this.#nowMs();
    // A clock that is set back gives nothing, and takes nothing.
    this.#left = Math.min(most, this.#left + Math.max(0, nowMs - this.#countedAtMs) / refillMs);
    this.#countedAtMs = nowMs;
  }
}
