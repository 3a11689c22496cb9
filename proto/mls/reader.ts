/**
 * A cursor over the TLS presentation language as RFC 9420 uses it (section 2.1), with variable-size
 * vectors.
 */
import { WireError } from "../base/errors.ts";

export class MlsReader {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  #at = 0;

  /** `what` names the structure in errors: "KeyPackage". */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes;
    this.#what = what;
  }

  get position(): number {
    return this.#at;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The bytes from `start` to the cursor: what a signature covers. */
  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#at);
  }

  uint8(): number {
    return this.#uint(1);
  }

  uint16(): number {
    return this.#uint(2);
  }

  /** A `uint64` that we can count with: epochs and times beyond 2^53 are refused. */
  uint64(): number {
    const value = this.#uint(8);
    if (value > Number.MAX_SAFE_INTEGER) this.refuse("a number is beyond 2^53 - 1");
    return value;
  }

  /** A `uint64` that may have any value; what is beyond 2^53 - 1 is clamped to it. */
  uint64Clamped(): number {
    return Math.min(this.#uint(8), Number.MAX_SAFE_INTEGER);
  }

  take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) this.refuse("it ends too early");
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  /** `opaque x<V>`: a length of 1, 2 or 4 bytes in its shortest form, then the bytes. */
  vector(): Uint8Array {
    const prefix = this.uint8();
    const size = prefix >> 6;
    if (size === 3) this.refuse("a vector has an invalid length");
    let length = prefix & 0x3f;
    for (let i = 1; i < 1 << size; i++) length = length * 256 + this.uint8();
    if (size > 0 && length < (size === 1 ? 2 ** 6 : 2 ** 14)) {
      this.refuse("a length is not in its shortest form");
    }
    return this.take(length);
  }

  /** A vector of structures, to be read until `done`. */
  nested(): MlsReader {
    return new MlsReader(this.vector(), this.#what);
  }

  /** A credential's identity, which is never empty. */
  identity(mostBytes: number): Uint8Array {
    const identity = this.vector();
    const isGood = identity.length > 0 && identity.length <= mostBytes;
    return isGood ? identity : this.refuse(`an identity has ${identity.length} bytes`);
  }

  /** `uint16 x<V>`. */
  uint16Vector(): number[] {
    const bytes = this.vector();
    if (bytes.length % 2 !== 0) this.refuse("a list of numbers has an odd length");
    return Array.from(
      { length: bytes.length / 2 },
      (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0),
    );
  }

  end(): void {
    if (!this.done) this.refuse(`${this.#bytes.length - this.#at} trailing bytes`);
  }

  refuse(why: string): never {
    throw new WireError("invalid_request", `Cannot read ${this.#what}: ${why}`);
  }

  #uint(size: number): number {
    let value = 0;
    for (const byte of this.take(size)) value = value * 256 + byte;
    return value;
  }
}

/** The length prefix that `MlsReader.vector` reads. */
export function encodeVectorLength(length: number): Uint8Array {
  if (length < 2 ** 6) return Uint8Array.of(length);
  if (length < 2 ** 14) return Uint8Array.of(0x40 | (length >> 8), length);
  if (length < 2 ** 30) {
    return Uint8Array.of(0x80 | (length >>> 24), length >> 16, length >> 8, length);
  }
  throw new RangeError(`A vector of ${length} bytes cannot be encoded`);
}
