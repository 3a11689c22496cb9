/**
 * Gathers everything that is written during one turn of the event loop and hands it to the socket
 * in one piece: one write, one run of TLS records. Copying small frames together is far cheaper
 * than a socket write for each.
 */

/**
 * The parts of a socket that the connection needs. Incoming bytes, drain and close are told to the
 * connection by its owner.
 */
export interface Transport {
  /**
   * Takes ownership of the bytes; false when the peer reads too slowly and the writer should wait
   * for the drain.
   */
  write(bytes: Uint8Array): boolean;
  /** Bytes accepted by `write` that the operating system has not taken yet. */
  queuedBytes(): number;
  /** Ends our side after what is queued. */
  end(): void;
  /** Ends both sides at once. */
  destroy(): void;
}

const smallestSlabBytes = 2_048;
const largestSlabBytes = 65_536;

export class Outbox {
  readonly #transport: Transport;
  readonly #defer: (task: () => void) => void;
  readonly #flush = (): void => this.flush();
  #slab = new Uint8Array(0);
  /** `slab[from, to)` is written and not handed over. */
  #from = 0;
  #to = 0;
  #slabBytes = smallestSlabBytes;
  #scheduled = false;
  #blocked = false;
  #closed = false;

  constructor(transport: Transport, defer: (task: () => void) => void) {
    this.#transport = transport;
    this.#defer = defer;
  }

  /** The peer reads too slowly: no more DATA until `drained`. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /** Everything that was written here and not taken by the operating system. */
  get queuedBytes(): number {
    return this.#to - this.#from + this.#transport.queuedBytes();
  }

  drained(): void {
    this.#blocked = false;
  }

  /** Room for `length` bytes; the caller fills `slab` from the returned offset on, at once. */
  reserve(length: number): number {
    if (this.#slab.length - this.#to < length) this.#newSlab(length);
    if (!this.#scheduled) {
      this.#scheduled = true;
      this.#defer(this.#flush);
    }
    const at = this.#to;
    this.#to += length;
    return at;
  }

  get slab(): Uint8Array {
    return this.#slab;
  }

  flush(): void {
    this.#scheduled = false;
    if (this.#to === this.#from) return;
    // A connection that writes little shrinks back to a small slab, so that idle connections hold
    // little memory.
    if (this.#to - this.#from < this.#slabBytes >> 3) {
      this.#slabBytes = Math.max(smallestSlabBytes, this.#slabBytes >> 1);
    }
    this.#handOver();
  }

  /** Hands over what is left and lets nothing follow. */
  end(): void {
    this.flush();
    this.#closed = true;
    this.#transport.end();
  }

  destroy(): void {
    this.#closed = true;
    this.#from = this.#to;
    this.#transport.destroy();
  }

  #handOver(): void {
    const bytes = this.#slab.subarray(this.#from, this.#to);
    this.#from = this.#to;
    if (!this.#closed && bytes.length > 0 && !this.#transport.write(bytes)) this.#blocked = true;
  }

  #newSlab(length: number): void {
    if (this.#to - this.#from >= this.#slabBytes >> 1) {
      this.#slabBytes = Math.min(largestSlabBytes, this.#slabBytes << 1);
    }
    this.#handOver();
    this.#slab = new Uint8Array(Math.max(this.#slabBytes, length));
    this.#from = 0;
    this.#to = 0;
  }
}
