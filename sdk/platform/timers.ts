/** Clock, timers and randomness, which are the same in every runtime. */

export function nowMs(): number {
  return Date.now();
}

/** Beyond it, `setTimeout` runs at once. */
const longestMs = 2 ** 31 - 1;

/** Runs once after the time; returns a function to cancel it. */
export function after(ms: number, run: () => void): () => void {
  const wait = (leftMs: number): number | ReturnType<typeof setTimeout> =>
    leftMs > longestMs ? setTimeout(() => timer = wait(leftMs - longestMs), longestMs) : setTimeout(run, leftMs);
  let timer = wait(ms);
  return () => clearTimeout(timer);
}

export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}
