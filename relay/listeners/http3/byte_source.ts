/**
 * Reads the pieces of HTTP/3 from a stream: variable-length integers (RFC 9000 §16) and byte
 * strings of a known length.
 */

/** Bytes that the format does not allow, or more of them than anybody honest sends. */
export class Http3Error extends Error {
  override readonly name = "Http3Error";
}

export class ByteSource {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);
  #budget: number;

  /** `budget` is how many bytes may be read or skipped in all. */
  constructor(stream: ReadableStream<Uint8Array>, budget: number) {
    this.#reader = stream.getReader();
    this.#budget = budget;
  }

  /** Undefined when the stream ends before its first byte. */
  async varint(): Promise<number | undefined> {
    const [first] = await this.#take(1) ?? [];
    if (first === undefined) return undefined;
    const length = 1 << (first >> 6);
    let value = first & 0x3f;
    if (length > 1) { for (const byte of await this.bytes(length - 1)) value = value * 256 + byte; }
    if (!Number.isSafeInteger(value)) throw new Http3Error("An integer is too large");
    return value;
  }

  /** An integer that must be there. */
  async integer(): Promise<number> {
    const value = await this.varint();
    if (value === undefined) throw new Http3Error("A stream ends in the middle of a frame");
    return value;
  }

  async bytes(length: number): Promise<Uint8Array> {
    const bytes = await this.#take(length);
    if (bytes === undefined) throw new Http3Error("A stream ends in the middle of a frame");
    return bytes;
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0;) {
      const part = await this.#chunk();
      if (part === undefined) throw new Http3Error("A stream ends in the middle of a frame");
      const skipped = Math.min(left, part.length);
      this.#rest = part.subarray(skipped);
      this.#spend(skipped);
      left -= skipped;
    }
  }

  /** Reads to the end, keeping nothing. */
  async drain(): Promise<void> {
    for (let part = await this.#chunk(); part !== undefined; part = await this.#chunk()) {
      this.#rest = new Uint8Array(0);
      this.#spend(part.length);
    }
  }

  /** Releases the stream; returns bytes that were read from it and not used. */
  release(): Uint8Array {
    this.#reader.releaseLock();
    return this.#rest;
  }

  cancel(): void {
    this.#reader.cancel().catch(() => {});
  }

  async #take(length: number): Promise<Uint8Array | undefined> {
    this.#spend(length);
    if (length > 0 && this.#rest.length === 0) {
      const part = await this.#chunk();
      if (part === undefined) return undefined;
      this.#rest = part;
    }
    while (this.#rest.length < length) {
      const { value } = await this.#reader.read();
      if (value === undefined) throw new Http3Error("A stream ends in the middle of a frame");
      const joined = new Uint8Array(this.#rest.length + value.length);
      joined.set(this.#rest);
      joined.set(value, this.#rest.length);
      this.#rest = joined;
    }
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  /** Returns bytes that were read before and not used, else the next piece; never empty. */
  async #chunk(): Promise<Uint8Array | undefined> {
    if (this.#rest.length > 0) return this.#rest;
    for (;;) {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      if (value.length > 0) return value;
    }
  }

  #spend(bytes: number): void {
    this.#budget -= bytes;
    if (this.#budget < 0) throw new Http3Error("More bytes than this stream may have");
  }
}

export function encodeVarint(value: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  const [size, mark] = value < 2 ** 6
    ? [1, 0]
    : value < 2 ** 14
    ? [2, 0x40]
    : value < 2 ** 30
    ? [4, 0x80]
    : [8, 0xc0];
  const encoded = bytes.slice(8 - size);
  encoded[0] = (encoded[0] ?? 0) | mark;
  return encoded;
}
