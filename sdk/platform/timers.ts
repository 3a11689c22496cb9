/** Clock, timers and randomness, which are the same in every runtime. */

export function nowMs(): number {
  return Date.now();
}

/** Runs once after the time; answers how to cancel. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}
