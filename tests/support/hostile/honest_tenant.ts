/**
 * A tenant that does nothing wrong and notices how it is served: one call at a steady pace, whether the one before has been
 * answered or not, so that a service that stalls is not asked less.
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
  /** Counts what was answered since the last call of this function, or since the start. */
  lap(): Served;
  /** Waits for the calls under way. */
  stop(): Promise<Served>;
}

/** Throws or rejects when it was not served as it should be. */
export type HonestCall = (signal: AbortSignal) => Promise<void>;

/** A longer wait counts as not served. */
const timeoutMs = 10_000;
const keptReasons = 5;

export function meterHonestTenant(call: HonestCall, { everyMs = 25 }: { everyMs?: number } = {}): Meter {
  let [durations, errors, reasons]: [number[], number, string[]] = [[], 0, []];
  const underWay = new Set<Promise<void>>();
  const once = async (): Promise<void> => {
    const startedMs = performance.now();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      await Promise.race([call(AbortSignal.timeout(timeoutMs)), late]);
    } catch (error) {
      errors++;
      if (reasons.length < keptReasons) reasons.push(error instanceof Error ? error.message : String(error));
    }
    clearTimeout(timer);
    // A call that failed was not served: its time counts too, so that failing fast does not look like serving fast.
    durations.push(performance.now() - startedMs);
  };
  const timer = setInterval(() => {
    const calling = once().finally(() => underWay.delete(calling));
    underWay.add(calling);
  }, everyMs);
  const lap = (): Served => {
    const sorted = durations.toSorted((a, b) => a - b);
    const served = { calls: sorted.length, errors, reasons, ...quantiles(sorted) };
    [durations, errors, reasons] = [[], 0, []];
    return served;
  };
  return {
    lap,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
      return lap();
    },
  };
}

function quantiles(sorted: readonly number[]): { p50Ms: number; p99Ms: number; maxMs: number } {
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
