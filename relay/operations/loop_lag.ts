/**
 * How late the event loop runs, smoothed: one long garbage collection is not a reason to refuse clients, a second of
 * lateness is.
 */

const intervalMs = 100;
const weight = 0.25;

export interface LoopLag {
  readonly currentMs: () => number;
  stop(): void;
}

export function watchLoopLag(): LoopLag {
  let lagMs = 0;
  let dueMs = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lagMs = smoothLag(lagMs, Math.max(0, nowMs - dueMs));
    dueMs = nowMs + intervalMs;
  }, intervalMs);
  return { currentMs: () => lagMs, stop: () => clearInterval(timer) };
}

export function smoothLag(beforeMs: number, sampleMs: number): number {
  return beforeMs + weight * (sampleMs - beforeMs);
}
