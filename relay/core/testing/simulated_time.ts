/** A clock that moves only when it is told to, and the timers that hang on it. */

export class SimulatedTime {
  #nowMs: number;
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();

  constructor(startMs: number) {
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

  /** Runs what falls due on the way, in order, and lets everything that follows from it happen. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.run();
      await settle();
    }
    this.#nowMs = untilMs;
    await settle();
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
