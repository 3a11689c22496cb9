/**
 * Time that moves only when a test says so. Between two timers everything that was waiting for
 * promises runs to its end.
 */
import { setImmediate } from "node:timers";

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

export class SimulatedClock {
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 1_000_000) {
    this.#nowMs = startMs;
  }

  readonly nowMs = (): number => this.#nowMs;

  readonly after = (ms: number, run: () => void): () => void => {
    const timer = { atMs: this.#nowMs + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  get timers(): number {
    return this.#timers.size;
  }

  /** Runs every timer that falls due, in order, each at its own time. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await this.settle();
    for (let timer = this.#next(untilMs); timer !== undefined; timer = this.#next(untilMs)) {
      this.#timers.delete(timer);
      this.#nowMs = Math.max(this.#nowMs, timer.atMs);
      timer.run();
      await this.settle();
    }
    this.#nowMs = untilMs;
  }

  /** Time passes and nobody notices, as when a process was stopped: timers are late afterwards. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }

  /** Until nothing is left that only waits for promises. */
  settle(): Promise<void> {
    return new Promise((resolve) => void setImmediate(resolve));
  }

  #next(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs <= untilMs && (next === undefined || timer.atMs < next.atMs)) next = timer;
    }
    return next;
  }
}
