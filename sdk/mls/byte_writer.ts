/**
 * Writes into an array whose length is known before: on the path of every message an encoding is
 * one allocation, where joining parts is one for each. In Deno every array, however short, is a
 * call of malloc.
 */

/** How many bytes the length of a vector takes (RFC 9420 section 2.1.2). */
export function vectorLengthBytes(length: number): number {
  return length < 2 ** 6 ? 1 : length < 2 ** 14 ? 2 : 4;
}

/** The same with the content. */
export function vectorBytes({ length }: Uint8Array): number {
  return vectorLengthBytes(length) + length;
}

export class ByteWriter {
  readonly bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.#at = at;
  }

  get position(): number {
    return this.#at;
  }

  uint8(value: number): this {
    this.bytes[this.#at++] = value;
    return this;
  }

  uint16(value: number): this {
    return this.uint8(value >> 8).uint8(value);
  }

  uint32(value: number): this {
    return this.uint16(value >>> 16).uint16(value);
  }

  uint64(value: bigint): this {
    return this.uint32(Number(value >> 32n)).uint32(Number(value & 0xffffffffn));
  }

  /** The bytes as they are. */
  raw(content: Uint8Array): this {
    this.bytes.set(content, this.#at);
    this.#at += content.length;
    return this;
  }

  vectorLength(length: number): this {
    if (length >= 2 ** 30) {
      throw new RangeError(`A vector of ${length} bytes is too long to encode`);
    }
    const bytes = vectorLengthBytes(length);
    if (bytes === 1) return this.uint8(length);
    return bytes === 2 ? this.uint16(0x4000 | length) : this.uint32(0x80000000 + length);
  }

  /** `opaque x<V>`. */
  vector(content: Uint8Array): this {
    return this.vectorLength(content.length).raw(content);
  }
}
