/**
 * The simulated clock for a relay with an engine, whose answers take a few turns of the event loop.
 */
import { SimulatedClock } from "../../../tests/support/mod.ts";

export class SimulatedTime extends SimulatedClock {
  readonly #turns: number;

  /** `turns` of the event loop are left to what follows from each timer. */
  constructor(startMs: number, turns = 4) {
    super(startMs);
    this.#turns = turns;
  }

  override settle(): Promise<void> {
    return settle(this.#turns);
  }

  override async advance(ms: number): Promise<void> {
    await super.advance(ms);
    await this.settle();
  }

  /**
   * Passes time as if the process had slept: the clock jumps, then everything that is overdue runs
   * once.
   */
  async leap(ms: number): Promise<void> {
    this.stall(ms);
    await this.advance(0);
  }
}

/**
 * Until everything that is under way has happened: an engine in memory needs a few turns of the
 * event loop.
 */
export async function settle(turns = 4): Promise<void> {
  // wait: turns of the event loop, not time
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
