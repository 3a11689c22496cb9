/** How often something may happen within an hour, per key. Keys that have been quiet are forgotten. */

const windowMs = 60 * 60 * 1000;
const maxKeys = 100_000;

export class HourlyRate {
  readonly #limit: number;
  readonly #windows = new Map<string, { startMs: number; count: number }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts one; returns how long to wait when it is one too many. */
  take(key: string, nowMs: number): number | undefined {
    const window = this.#windows.get(key);
    if (window === undefined || isOver(window, nowMs)) {
      if (this.#windows.size >= maxKeys) this.forget(nowMs);
      this.#windows.delete(key);
      this.#windows.set(key, { startMs: nowMs, count: 1 });
      return undefined;
    }
    if (window.count >= this.#limit) return window.startMs + windowMs - nowMs;
    window.count++;
    return undefined;
  }

  /** Like `take`, but counts nothing. */
  waitMs(key: string, nowMs: number): number | undefined {
    const window = this.#windows.get(key);
    if (window === undefined || isOver(window, nowMs) || window.count < this.#limit) return undefined;
    return window.startMs + windowMs - nowMs;
  }

  /** How often it has happened in this hour. */
  count(key: string, nowMs: number): number {
    const window = this.#windows.get(key);
    return window === undefined || isOver(window, nowMs) ? 0 : window.count;
  }

  /** Drops windows that are over; if that is not enough, the oldest half. */
  forget(nowMs: number): void {
    for (const [key, window] of this.#windows) if (isOver(window, nowMs)) this.#windows.delete(key);
    let excess = this.#windows.size - maxKeys / 2;
    if (this.#windows.size < maxKeys) return;
    for (const key of this.#windows.keys()) if (excess-- > 0) this.#windows.delete(key);
  }
}

/** One that begins in the future is from before the clock was set back: nobody knows when it would end. */
function isOver({ startMs }: { readonly startMs: number }, nowMs: number): boolean {
  return nowMs - startMs >= windowMs || nowMs < startMs;
}
