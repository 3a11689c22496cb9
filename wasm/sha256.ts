/**
 * SHA-256, HMAC and HKDF (RFC 5869), synchronous. Inputs pass through a window in WebAssembly
 * memory piece by piece, and everything that they left there is wiped before a call returns, also
 * when it throws. A fault of the wiping itself (out of stack) is made good before the next call.
 */
import { moduleBase64 } from "./gen/sha256.ts";
import { type FixedMemory, hashedBytes, instantiate } from "./instance.ts";

/** Length of a hash, a MAC, and a pseudorandom key of HKDF. */
export const hashBytes = 32;
const blockBytes = 64;
const maxExpandedBytes = 255 * hashBytes;
const nothing = new Uint8Array(0);
const firstCounter = Uint8Array.of(1);

/**
 * Exports of `assembly/sha256/index.ts`; its comments say in which order the functions are called.
 */
interface Exports {
  readonly memory: FixedMemory;
  readonly keyAt: WebAssembly.Global;
  readonly resultAt: WebAssembly.Global;
  readonly windowAt: WebAssembly.Global;
  readonly windowBytes: WebAssembly.Global;
  begin(): void;
  absorb(bytes: number): void;
  finish(bytes: number, total: number): void;
  setKey(): void;
  beginMac(): void;
  finishMac(bytes: number, total: number): void;
  wipe(bytes: number): void;
}

export class Sha256 {
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly windowAt: number;
  readonly windowBytes: number;
  readonly #wasm: Exports;
  readonly #keyAt: number;
  readonly #resultAt: number;
  /** Whether something may be in memory, and the most that the window held. */
  #dirty = false;
  #used = 0;

  constructor() {
    this.#wasm = instantiate<Exports>(moduleBase64);
    this.memory = new Uint8Array(this.#wasm.memory.buffer);
    this.windowAt = this.#wasm.windowAt.value;
    this.windowBytes = this.#wasm.windowBytes.value;
    this.#keyAt = this.#wasm.keyAt.value;
    this.#resultAt = this.#wasm.resultAt.value;
  }

  hash(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    const total = hashedBytes(parts);
    this.#enter();
    try {
      this.#wasm.begin();
      this.#wasm.finish(this.#take(parts), total);
      return this.#result(hashBytes);
    } finally {
      this.#wipe();
    }
  }

  mac(key: Uint8Array, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    const short = this.#shortKey(key);
    this.#enter();
    try {
      this.#setKey(short);
      this.#mac(parts);
      return this.#result(hashBytes);
    } finally {
      if (short !== key) short.fill(0);
      this.#wipe();
    }
  }

  /** Almost always to one block, which is one HMAC. */
  expand(pseudorandomKey: Uint8Array, info: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
    if (!Number.isInteger(length) || length < 0 || length > maxExpandedBytes) {
      throw new RangeError(`HKDF cannot expand to ${length} bytes`);
    }
    const short = this.#shortKey(pseudorandomKey);
    this.#enter();
    try {
      this.#setKey(short);
      if (length <= hashBytes) {
        this.#mac([info, firstCounter]);
        return this.#result(length);
      }
      const expanded = new Uint8Array(length);
      let previous: Uint8Array = nothing;
      for (let block = 0; block * hashBytes < length; block++) {
        this.#mac([previous, info, Uint8Array.of(block + 1)]);
        previous.fill(0);
        previous = this.#result(hashBytes);
        expanded.set(previous.subarray(0, length - block * hashBytes), block * hashBytes);
      }
      previous.fill(0);
      return expanded;
    } finally {
      if (short !== pseudorandomKey) short.fill(0);
      this.#wipe();
    }
  }

  /** A key that is longer than a block is hashed first (RFC 2104 section 2). */
  #shortKey(key: Uint8Array): Uint8Array {
    return hashedBytes([key]) > blockBytes ? this.hash([key]) : key;
  }

  #setKey(key: Uint8Array): void {
    this.memory.set(key, this.#keyAt);
    this.#wasm.setKey();
  }

  #mac(parts: readonly Uint8Array[]): void {
    const total = hashedBytes(parts);
    this.#wasm.beginMac();
    this.#wasm.finishMac(this.#take(parts), total);
  }

  /**
   * Takes in parts, and returns how many bytes wait in the window: it stays full until more comes,
   * because the last piece of a message is not absorbed alone.
   */
  #take(parts: readonly Uint8Array[]): number {
    let waiting = 0;
    for (const part of parts) {
      for (let from = 0; from < part.length;) {
        if (waiting === this.windowBytes) {
          this.#wasm.absorb(waiting);
          waiting = 0;
        }
        const bytes = Math.min(part.length - from, this.windowBytes - waiting);
        if (waiting + bytes > this.#used) this.#used = waiting + bytes;
        const piece = bytes === part.length ? part : part.subarray(from, from + bytes);
        this.memory.set(piece, this.windowAt + waiting);
        waiting += bytes;
        from += bytes;
      }
    }
    return waiting;
  }

  #result(length: number): Uint8Array<ArrayBuffer> {
    return this.memory.slice(this.#resultAt, this.#resultAt + length);
  }

  #enter(): void {
    if (this.#dirty) this.#wipe();
    this.#dirty = true;
  }

  #wipe(): void {
    this.#wasm.wipe(this.#used);
    this.#used = 0;
    this.#dirty = false;
  }
}

/** The hash of the parts, one behind the other. */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return sharedSha256().hash(parts);
}

/** HMAC of the parts, one behind the other. HKDF-Extract is the same, its salt the key. */
export function hmacSha256(
  key: Uint8Array,
  ...parts: readonly Uint8Array[]
): Uint8Array<ArrayBuffer> {
  return sharedSha256().mac(key, parts);
}

/** HKDF-Expand. Throws a `RangeError` for more than 255 hashes, and for what is no length. */
export function hkdfExpandSha256(
  pseudorandomKey: Uint8Array,
  info: Uint8Array,
  length: number,
): Uint8Array<ArrayBuffer> {
  return sharedSha256().expand(pseudorandomKey, info, length);
}

/**
 * The instance of a realm. Created with the first hash, so that importing this package compiles
 * nothing.
 */
export function sharedSha256(): Sha256 {
  return shared.instance ??= new Sha256();
}

const shared: { instance?: Sha256 } = {};
