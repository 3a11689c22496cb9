/** Waiting for something that another process does. */

/**
 * The first pause. Later ones are a tenth of the time waited so far, up to the last: most looks
 * cost both sides a connection.
 */
const [firstPauseMs, lastPauseMs] = [25, 250];
/** No test waits for less: a slow machine would miss it. */
const patienceMs = 60_000;

/**
 * Asks again until `check` holds; fails with what was last seen. Time in which the machine stood
 * still is not counted.
 */
export async function eventually<T>(
  { withinMs = patienceMs, what }: { withinMs?: number; what: string },
  ask: () => Promise<T>,
  check: (value: T) => boolean,
): Promise<T> {
  const startMs = performance.now();
  let deadline = startMs + withinMs;
  while (true) {
    const value = await ask();
    if (check(value)) return value;
    if (performance.now() > deadline) {
      throw new Error(`${what} not within ${withinMs} ms; last: ${JSON.stringify(value)}`);
    }
    const pausedMs = performance.now();
    const pauseMs = Math.min(Math.max(firstPauseMs, (pausedMs - startMs) / 10), lastPauseMs);
    // wait: between two looks at a condition
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    deadline += performance.now() - pausedMs - pauseMs;
  }
}
