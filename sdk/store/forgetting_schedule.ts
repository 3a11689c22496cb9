/**
 * When a period ends: some time or some changes after the first change of a secret kind, and when
 * the store is closed. One end at a time; changes behind its turning point belong to the next
 * period.
 */

/** A minute at most is promised; the rest is for a timer that is late and for the disk. */
export const periodMs = 45_000;
/** A thousand at most are promised; the rest is for those that come while the disk works. */
export const changesInPeriod = 700;

export interface ForgettingScheduleParts {
  readonly after: (ms: number, run: () => void) => () => void;
  /** Ends the period, and calls `turned` at its turning point. */
  readonly end: (turned: () => void) => Promise<void>;
  readonly onFault: (cause: unknown) => void;
}

export class ForgettingSchedule {
  readonly #parts: ForgettingScheduleParts;
  #changes = 0;
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: ForgettingScheduleParts) {
    this.#parts = parts;
  }

  noted(changes: number): void {
    if (changes === 0) return;
    this.#changes += changes;
    this.#goOn();
  }

  /** Resolves when what was noted so far is forgotten, or cannot be. */
  async settle(): Promise<void> {
    while (this.#running !== undefined || this.#changes > 0) await this.endNow();
  }

  /** Resolves when a period has ended, or cannot. */
  endNow(): Promise<void> {
    return this.#running ??= this.#run();
  }

  #goOn(): void {
    if (this.#running !== undefined || this.#changes === 0) return;
    if (this.#changes >= changesInPeriod) void this.endNow();
    else this.#cancel ??= this.#parts.after(periodMs, () => void this.endNow());
  }

  async #run(): Promise<void> {
    try {
      await this.#parts.end(() => this.#turn());
    } catch (cause) {
      this.#turn();
      this.#parts.onFault(cause);
    } finally {
      this.#running = undefined;
      this.#goOn();
    }
  }

  #turn(): void {
    this.#changes = 0;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
