/**
 * How late the event loop runs, smoothed. Only what lasts counts: one long garbage collection, or a
 * machine that stood still for a second because its host did something else, is not a reason to
 * refuse clients. Turn after turn that is late is one.
 */

const intervalMs = 100;
const weight = 0.25;

export interface LoopLag {
  readonly currentMs: () => number;
  stop(): void;
}

export function watchLoopLag(): LoopLag {
  const smooth = smoothLag();
  let lagMs = 0;
  let dueMs = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lagMs = smooth(Math.max(0, nowMs - dueMs));
    dueMs = nowMs + intervalMs;
  }, intervalMs);
  return { currentMs: () => lagMs, stop: () => clearInterval(timer) };
}

/** So many samples back another late one makes a late one count. */
const remembered = 2;

/**
 * Takes one sample after the other. Each counts as far as one of the two before it was late too.
 */
export function smoothLag(): (sampleMs: number) => number {
  let smoothMs = 0;
  const before: number[] = [];
  return (sampleMs) => {
    smoothMs += weight * (Math.min(sampleMs, Math.max(0, ...before)) - smoothMs);
    before.push(sampleMs);
    if (before.length > remembered) before.shift();
    return smoothMs;
  };
}
