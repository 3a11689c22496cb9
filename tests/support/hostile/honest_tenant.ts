/**
 * A tenant that does nothing wrong and notices how it is served: one call at a steady pace, whether
 * the one before has been answered or not, so that a service that stalls is not asked less. A call
 * belongs to the lap in which it was begun.
 */

export interface Served {
  readonly calls: number;
  readonly errors: number;
  /** The first few reasons. */
  readonly reasons: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Meter {
  /**
   * Of the calls that were begun since the last call of this function, or since the start. Resolves
   * when all of them have ended.
   */
  lap(): Promise<Served>;
  /** Begins no more, and waits for the calls under way. */
  stop(): Promise<void>;
}

/** Throws or rejects when it was not served as it should be. */
export type HonestCall = (signal: AbortSignal) => Promise<void>;

/** A longer wait counts as not served. */
const timeoutMs = 10_000;
const keptReasons = 5;

/** The calls of one lap. */
class Lap {
  readonly #durations: number[] = [];
  readonly #reasons: string[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #errors = 0;

  begin(call: HonestCall): void {
    const calling = this.#once(call).finally(() => this.#underWay.delete(calling));
    this.#underWay.add(calling);
  }

  async ended(): Promise<Served> {
    await Promise.all(this.#underWay);
    const sorted = this.#durations.toSorted((a, b) => a - b);
    return {
      calls: sorted.length,
      errors: this.#errors,
      reasons: this.#reasons,
      ...quantiles(sorted),
    };
  }

  async #once(call: HonestCall): Promise<void> {
    const startedMs = performance.now();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    try {
      await Promise.race([call(AbortSignal.timeout(timeoutMs)), late]);
    } catch (error) {
      this.#errors++;
      if (this.#reasons.length < keptReasons) {
        this.#reasons.push(error instanceof Error ? error.message : String(error));
      }
    }
    clearTimeout(timer);
    // A call that failed was not served: its time counts too, so that failing fast does not look
    // like serving fast.
    this.#durations.push(performance.now() - startedMs);
  }
}

export function meterHonestTenant(
  call: HonestCall,
  { everyMs = 25 }: { everyMs?: number } = {},
): Meter {
  let current = new Lap();
  const timer = setInterval(() => current.begin(call), everyMs);
  const lap = (): Promise<Served> => {
    const ended = current;
    current = new Lap();
    return ended.ended();
  };
  return {
    lap,
    stop: async () => {
      clearInterval(timer);
      await lap();
    },
  };
}

function quantiles(sorted: readonly number[]): { p50Ms: number; p99Ms: number; maxMs: number } {
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
