/** Clock, timers and randomness, which are the same in every runtime. */
import { SharedTimer } from "./shared_timer.ts";

export function nowMs(): number {
  return Date.now();
}

/** Goes on evenly, also when somebody sets the clock. */
export function steadyMs(): number {
  return performance.now();
}

/** Waits from here on share one timer. */
const longMs = 5_000;
const shared = new SharedTimer();

/** Runs once after the time; returns a function to cancel it. */
export function after(ms: number, run: () => void): () => void {
  if (ms >= longMs) return shared.after(ms, run);
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/** Not by a timer: browsers let those of a page that nobody sees wait for a second. */
export function rest(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}
