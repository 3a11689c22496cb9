/**
 * When a relay leaves its node for another one: it has waited for a verdict for long, and the node may be cut off. Each further
 * time it waits twice as long. On a machine that has much else to do a verdict takes longer than the first patience, and a relay
 * that moves on every time would lose each answer on its way.
 */
const deafMs = 3_000;
const firstPauseMs = 5_000;
const longestPauseMs = 40_000;

export class DeafNode {
  #leftMs = -Infinity;
  #pauseMs = firstPauseMs;
  /** Nothing was answered since it left. */
  #isAgain = false;

  /** Asked again and again. `waitingMs`: how long the oldest command has waited. */
  shouldLeave(waitingMs: number, nowMs: number): boolean {
    if (waitingMs < deafMs) {
      this.#pauseMs = firstPauseMs;
      this.#isAgain = false;
      return false;
    }
    if (nowMs - this.#leftMs < this.#pauseMs) return false;
    if (this.#isAgain) this.#pauseMs = Math.min(longestPauseMs, 2 * this.#pauseMs);
    this.#leftMs = nowMs;
    this.#isAgain = true;
    return true;
  }
}
