/** Lengths of TLS records in a stream of bytes, which everybody on the way can read. */

const headBytes = 5;

export class TlsRecords {
  readonly #onRecord: (bytes: number) => void;
  #head: number[] = [];
  #left = 0;

  constructor(onRecord: (bytes: number) => void) {
    this.#onRecord = onRecord;
  }

  read(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const part = Math.min(this.#left, chunk.length - at);
        this.#left -= part;
        at += part;
        continue;
      }
      this.#head.push(chunk[at++] ?? 0);
      if (this.#head.length < headBytes) continue;
      this.#left = (this.#head[3] ?? 0) * 256 + (this.#head[4] ?? 0);
      this.#head = [];
      this.#onRecord(this.#left);
    }
  }
}
