/** Timers in the form in which `deps` objects take them. Each returns how to stop it. */

import { setImmediate } from "node:timers";

/** Beyond it, `setTimeout` runs at once. */
const longestMs = 2 ** 31 - 1;

/** Once. Longer than a timer of the runtime can wait, it is set again. */
export function after(ms: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = (leftMs: number): void => {
    const partMs = Math.min(leftMs, longestMs);
    timer = setTimeout(() => leftMs > partMs ? wait(leftMs - partMs) : run(), partMs);
  };
  wait(ms);
  return () => clearTimeout(timer);
}

/** When everything that waits for the event loop has had its turn. */
export function soon(run: () => void): void {
  setImmediate(run);
}

/**
 * Again and again, one run at a time. `run` deals with its own failures; any other is reported to
 * the guard of the process.
 */
export function every(ms: number, run: () => Promise<void>): () => void {
  let busy = false;
  const turn = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    try {
      await run();
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void turn().catch(reportError), ms);
  return () => clearInterval(timer);
}

/** Whether the work was done in time. */
export async function within(ms: number, work: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const cancel = after(ms, () => resolve(false));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancel();
  }
}
