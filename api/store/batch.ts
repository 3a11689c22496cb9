/**
 * Many single lookups as few queries: while a few queries are on their way, further lookups gather
 * and leave together with the next one. A lookup never joins a query that has already left, so what
 * it reads is never older than the lookup itself.
 */

/** Enough to hide the way to the database, few enough that lookups gather under load. */
const maxInFlight = 2;
const maxBatch = 500;
/**
 * A caller that has waited longer than this when a query fails does not wait for the next one: it
 * would take as long.
 */
const patienceMs = 400;

export type LoadMany<Key, Value> = (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>;

interface QueuedLookup<Key, Value> {
  readonly key: Key;
  readonly sinceMs: number;
  readonly resolve: (value: Value | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatchedLookup<Key, Value>(
  loadMany: LoadMany<Key, Value>,
  nowMs: () => number = () => performance.now(),
): (key: Key) => Promise<Value | undefined> {
  const waiting: QueuedLookup<Key, Value>[] = [];
  let inFlight = 0;

  /** Never rejects: a failure is told to those who wait. */
  const dispatch = async (): Promise<void> => {
    while (inFlight < maxInFlight && waiting.length > 0) {
      const batch = waiting.splice(0, maxBatch);
      inFlight++;
      try {
        const found = await loadMany([...new Set(batch.map(({ key }) => key))]);
        for (const { key, resolve } of batch) resolve(found.get(key));
      } catch (error) {
        const impatient = waiting.findLastIndex(({ sinceMs }) => nowMs() - sinceMs > patienceMs) +
          1;
        for (const { reject } of [...batch, ...waiting.splice(0, impatient)]) reject(error);
      } finally {
        inFlight--;
      }
    }
  };
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, sinceMs: nowMs(), resolve, reject });
      // After this turn of requests: those that arrived together leave together.
      if (waiting.length === 1) queueMicrotask(() => void dispatch());
    });
}
