/** A clock that moves only when it is told to, and the timers that hang on it. */

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

export class SimulatedTime {
  #nowMs: number;
  readonly #turns: number;
  readonly #timers = new Set<Timer>();

  /** `turns` of the event loop are left to what follows from each timer. */
  constructor(startMs: number, turns = 4) {
    this.#nowMs = startMs;
    this.#turns = turns;
  }

  readonly nowMs = (): number => this.#nowMs;

  readonly after = (ms: number, run: () => void): () => void => {
    const timer: Timer = { atMs: this.#nowMs + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  get timers(): number {
    return this.#timers.size;
  }

  /** Runs what falls due on the way, in order, and lets everything that follows from it happen. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    // What is under way may set timers that fall due on the way.
    await settle(this.#turns);
    for (;;) {
      const due = this.#next();
      if (due === undefined || due.atMs > untilMs) break;
      this.#timers.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.run();
      await settle(this.#turns);
    }
    this.#nowMs = untilMs;
    await settle(this.#turns);
  }

  /** The earliest; among several of one moment the one that was set first. */
  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (next === undefined || timer.atMs < next.atMs) next = timer;
    return next;
  }

  /** As if the process had slept: the clock jumps, then everything that is overdue runs once. */
  async leap(ms: number): Promise<void> {
    this.#nowMs += ms;
    const due = [...this.#timers].filter(({ atMs }) => atMs <= this.#nowMs).sort((a, b) => a.atMs - b.atMs);
    for (const timer of due) {
      if (!this.#timers.delete(timer)) continue;
      timer.run();
      await settle();
    }
    await this.advance(0);
  }
}

/** Until everything that is under way has happened: an engine in memory needs a few turns of the event loop. */
export async function settle(turns = 4): Promise<void> {
  // wait: turns of the event loop, not time
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
