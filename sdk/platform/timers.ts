/** Clock, timers and randomness, which are the same in every runtime. */
import { SharedTimer } from "./shared_timer.ts";

export function nowMs(): number {
  return Date.now();
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

export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}
