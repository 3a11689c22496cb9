/**
 * Cuts a relay's byte stream into cells without opening them, except the first ones: the reply to
 * GetChallenge tells the size of all that follow.
 */
import { CellReader, decodeRelayEnvelope, limits } from "../../proto/mod.ts";

export interface Cells {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly cellBytes: number;
}

export class CellSplitter {
  #cellBytes: number = limits.cellBytes;
  #rest = new Uint8Array(0);
  /** Reads along until the size is settled. */
  #reader: CellReader | undefined = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.handshakeEnvelopeBytes,
  });

  /** The size of the next cell, in both directions. */
  get cellBytes(): number {
    return this.#cellBytes;
  }

  get settled(): boolean {
    return this.#reader === undefined;
  }

  /**
   * The cells that this chunk completes, in groups of one size. Throws `WireError` for bytes that
   * are none.
   */
  *split(chunk: Uint8Array): Generator<Cells> {
    let bytes = new Uint8Array(this.#rest.length + chunk.length);
    bytes.set(this.#rest);
    bytes.set(chunk, this.#rest.length);
    for (;;) {
      const cellBytes = this.#cellBytes;
      const whole = Math.floor(bytes.length / cellBytes);
      if (whole === 0) break;
      const taken = bytes.subarray(0, (this.#reader === undefined ? whole : 1) * cellBytes);
      bytes = bytes.subarray(taken.length);
      this.#reader?.read(taken, (envelope) => this.#settle(envelope));
      yield { bytes: taken, cellBytes };
    }
    this.#rest = bytes;
  }

  #settle(bytes: Uint8Array): void {
    const envelope = decodeRelayEnvelope(bytes);
    if (envelope.kind !== "reply" || envelope.operation !== "GetChallenge") return;
    this.#cellBytes = envelope.body.cellBytes;
    this.#reader = undefined;
  }
}
