/**
 * The wait between two connections. A relay that is lost without a word takes all its agents with
 * it, so each waits a random part of the time that the relay named, before its usual waits begin.
 * An agent somebody waits for takes a quarter of that part.
 */
import type { RetryTimes } from "./retry_rule.ts";

export interface ReturningDeps {
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** No relay sends its agents away for longer. */
const longestMs = 2 * 60_000;
const hurriedPart = 1 / 4;

export class ReturnWaits {
  readonly times: RetryTimes;
  readonly #deps: ReturningDeps;
  #withinMs: number | undefined;
  #hurry: () => void = () => {};

  constructor(times: RetryTimes, deps: ReturningDeps) {
    this.times = times;
    this.#deps = deps;
  }

  /** The relay's newest word; undefined: it says nothing of it. */
  told(withinMs: number | undefined): void {
    this.#withinMs = withinMs === undefined ? undefined : Math.min(withinMs, longestMs);
  }

  /** How long to wait after a connection that was lost; undefined: as after any failure. */
  afterLoss(isSudden: boolean): number | undefined {
    const withinMs = this.#withinMs;
    this.#withinMs = undefined;
    return isSudden && withinMs !== undefined ? withinMs * this.#deps.random() : undefined;
  }

  /** Somebody waits for the connection: a wait after a loss ends sooner. */
  hurry(): void {
    this.#hurry();
  }

  /** Resolves after the time, sooner if it may be hurried, or at once when the signal is aborted. */
  pause(
    ms: number,
    { signal, mayHurry }: { readonly signal: AbortSignal; readonly mayHurry: boolean },
  ): Promise<void> {
    const { after, nowMs } = this.#deps;
    const sinceMs = nowMs();
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#hurry = () => {};
        signal.removeEventListener("abort", done);
        resolve();
      };
      let cancel = after(ms, done);
      signal.addEventListener("abort", done);
      if (!mayHurry) return;
      this.#hurry = () => {
        this.#hurry = () => {};
        cancel();
        cancel = after(Math.max(0, ms * hurriedPart - (nowMs() - sinceMs)), done);
      };
    });
  }
}
