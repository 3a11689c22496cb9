/**
 * When commands leave. Those of one turn of the event loop go in one batch. Where many come, each
 * waits a moment longer for others: a batch costs every relay and every node as much as several
 * commands do. Where few come, that would only make each of them slower.
 */
import type { after } from "../../../server/mod.ts";

/** The most that a command waits for others. */
export const fullerMs = 2;
/** More than so many commands in a second are worth a wait. */
const busyPerSecond = 500;
const windowMs = 1_000;

export interface BatchPaceOptions {
  readonly nowMs: () => number;
  readonly after: typeof after;
  readonly flush: () => void;
}

export class BatchPace {
  readonly #options: BatchPaceOptions;
  #isDue = false;
  #cancel: (() => void) | undefined;
  #windowAtMs = -Infinity;
  #came = 0;
  #cameBefore = 0;

  constructor(options: BatchPaceOptions) {
    this.#options = options;
  }

  /** A command came: it is flushed, at the end of this turn at the earliest. */
  came(): void {
    this.#turn(this.#options.nowMs());
    this.#came++;
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#options.flush();
    });
  }

  /** Whether a batch whose oldest command came then waits for more. Then it is flushed in time. */
  waits(sinceMs: number): boolean {
    const nowMs = this.#options.nowMs();
    const leftMs = sinceMs + fullerMs - nowMs;
    if (leftMs <= 0 || !this.#isBusy(nowMs)) return false;
    this.#cancel ??= this.#options.after(leftMs, () => {
      this.#cancel = undefined;
      this.#options.flush();
    });
    return true;
  }

  stop(): void {
    this.#cancel?.();
  }

  /** About as many as this many came in the last second: all of this window, a part of the last. */
  #isBusy(nowMs: number): boolean {
    this.#turn(nowMs);
    const left = 1 - (nowMs - this.#windowAtMs) / windowMs;
    return this.#came + this.#cameBefore * left > busyPerSecond;
  }

  #turn(nowMs: number): void {
    const passedMs = nowMs - this.#windowAtMs;
    if (passedMs < windowMs) return;
    const isNext = passedMs < 2 * windowMs;
    this.#cameBefore = isNext ? this.#came : 0;
    this.#windowAtMs = isNext ? this.#windowAtMs + windowMs : nowMs;
    this.#came = 0;
  }
}
