/**
 * Healing commits of an agent, over all its channels: one in ten seconds, so that a restart does
 * not commit in all of them at once.
 */

const mostMs = 60 * 60_000;

export class HealingTurns {
  readonly #everyMs: number;
  #freeAtMs = 0;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /**
   * How long to wait for the turn that is taken by asking. A clock that was set back holds up
   * nothing for long.
   */
  take(nowMs: number): number {
    const atMs = Math.max(nowMs, Math.min(this.#freeAtMs, nowMs + mostMs));
    this.#freeAtMs = atMs + this.#everyMs;
    return atMs - nowMs;
  }
}
