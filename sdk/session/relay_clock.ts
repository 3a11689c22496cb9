/**
 * The relay's time. While a connection lasts it goes on by a clock that nobody can set: if our own
 * is set, or the machine's time comes late after a start, no key looks expired and none is made for
 * another year. A machine that sleeps stops that clock, so without a connection our own counts.
 */
export interface LocalClocks {
  /** Milliseconds since 1970, which may be wrong and may jump. */
  readonly nowMs: () => number;
  /** Milliseconds since any moment, which go on evenly. */
  readonly steadyMs: () => number;
}

export class RelayClock {
  readonly #clocks: LocalClocks;
  #by: keyof LocalClocks = "nowMs";
  #aheadMs = 0;

  constructor(clocks: LocalClocks) {
    this.#clocks = clocks;
  }

  /** The relay's time; by our own clock until the relay has told it. */
  get nowMs(): number {
    return Math.round(this.#clocks[this.#by]() + this.#aheadMs);
  }

  /** The relay has read its clock when our steady one showed this. */
  told(relayTimeMs: number, steadyMs: number): void {
    this.#by = "steadyMs";
    this.#aheadMs = relayTimeMs - steadyMs;
  }

  /** The connection is over. */
  lost(): void {
    this.#aheadMs = this.nowMs - this.#clocks.nowMs();
    this.#by = "nowMs";
  }
}
