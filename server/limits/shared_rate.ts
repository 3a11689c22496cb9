/**
 * A rate that many share. While less than half of it is asked for, it is free for all. Above that,
 * each may take an equal part, so that many who each stay below their own limit cannot leave
 * nothing for the next one.
 *
 * It is neither of the other two ideas. `Buckets` give each party its own, whatever others take.
 * `Places` take from one party what another needs more, but something that was done cannot be taken
 * back: so it is parted before.
 */

/** Short, because what is asked for within the first one is not shared yet. */
const windowMs = 250;

/** The first of everybody in a window is let in beyond the rate, up to this many times of it. */
const newcomerFactor = 2;

export class SharedRate {
  readonly #perWindow: number;
  readonly #now: () => number;
  readonly #room: () => number;
  readonly #taken = new Map<string, number>();
  #startedAtMs: number;
  #total = 0;
  #asked = 0;
  /**
   * From the previous window: the number of clients, and whether they asked for more than half of
   * the rate.
   */
  #sharersBefore = 0;
  #crowdedBefore = false;

  /**
   * `room` is the part of the rate that there is at the moment, in (0, 1]: less while the process
   * has too much to do.
   */
  constructor(perSecond: number, now: () => number, room: () => number = () => 1) {
    this.#room = room;
    this.#perWindow = perSecond * windowMs / 1_000;
    this.#now = now;
    this.#startedAtMs = now();
  }

  /** False when nothing is left for this one. */
  spend(key: string): boolean {
    this.#turn();
    this.#asked++;
    const own = this.#taken.get(key) ?? 0;
    const isAllowed = own === 0
      ? this.#total < newcomerFactor * this.#perWindow
      : this.#isFree(own);
    this.#taken.set(key, isAllowed ? own + 1 : own);
    if (isAllowed) this.#total++;
    return isAllowed;
  }

  #isFree(own: number): boolean {
    const limit = this.#perWindow * this.#room();
    if (this.#total >= limit) return false;
    const isCrowded = this.#crowdedBefore || this.#total >= limit / 2;
    return !isCrowded || own < limit / Math.max(this.#sharersBefore, this.#taken.size);
  }

  #turn(): void {
    const nowMs = this.#now();
    const passed = Math.floor((nowMs - this.#startedAtMs) / windowMs);
    if (passed < 1) return;
    const isNext = passed === 1;
    this.#sharersBefore = isNext ? this.#taken.size : 0;
    this.#crowdedBefore = isNext && this.#asked >= this.#perWindow / 2;
    this.#startedAtMs += passed * windowMs;
    this.#total = 0;
    this.#asked = 0;
    this.#taken.clear();
  }
}
