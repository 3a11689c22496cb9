/**
 * Memory of streams that are gone, because RFC 9113 §5.1 answers late frames by how the stream
 * ended. Streams that ended in the ordinary way need no memory: an identifier that is neither open,
 * reset nor skipped was one of them.
 */

export const StreamEnd = {
  /** Never opened: above every identifier used so far. */
  idle: 0,
  /**
   * Skipped by a client that went on with a higher identifier; closed without ever being open
   * (§5.1.1).
   */
  skipped: 1,
  ended: 2,
  resetByPeer: 3,
  /** The peer may not know yet: what it still sends is ignored. */
  resetByUs: 4,
} as const;

/**
 * Late frames come within a round trip; an attacker can make us forget, and then only gets a
 * stricter answer.
 */
const rememberedResets = 1_024;
const rememberedGaps = 64;

export class ClosedStreams {
  /** In order of arrival, so the first key is the oldest. */
  readonly #resets = new Map<number, number>();
  readonly #gaps: { readonly from: number; readonly to: number }[] = [];
  #last = 0;

  /** The highest identifier that the peer has opened. */
  get last(): number {
    return this.#last;
  }

  opened(id: number): void {
    if (id > this.#last + 2) {
      this.#gaps.push({ from: this.#last + 1, to: id - 1 });
      if (this.#gaps.length > rememberedGaps) this.#gaps.shift();
    }
    this.#last = id;
  }

  reset(id: number, how: number): void {
    this.#resets.set(id, how);
    if (this.#resets.size <= rememberedResets) return;
    for (const oldest of this.#resets.keys()) {
      this.#resets.delete(oldest);
      return;
    }
  }

  /** How a stream that is not open came to be so. */
  endOf(id: number): number {
    // A client's identifiers are odd: an even one would be ours, and we never push.
    if (id > this.#last || id % 2 === 0) return StreamEnd.idle;
    const reset = this.#resets.get(id);
    if (reset !== undefined) return reset;
    return this.#gaps.some(({ from, to }) => id >= from && id <= to)
      ? StreamEnd.skipped
      : StreamEnd.ended;
  }
}
