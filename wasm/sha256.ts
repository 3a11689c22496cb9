/**
 * SHA-256, HMAC and HKDF (RFC 5869), synchronous. Inputs pass through a window in WebAssembly memory piece by piece, and
 * everything that they left there is wiped before a call returns, also when it throws.
 */
import { CipherError } from "./errors.ts";
import { moduleBase64 } from "./gen/sha256.ts";
import { describe, type FixedMemory, instantiate } from "./instance.ts";

/** Length of a hash, a MAC, and a pseudorandom key of HKDF. */
export const hashBytes = 32;
const blockBytes = 64;
const maxBytes = 2 ** 31;
const maxExpandedBytes = 255 * hashBytes;
const nothing = new Uint8Array(0);
const firstCounter = Uint8Array.of(1);

/** What `assembly/sha256/index.ts` exports; its comments say in which order the functions are called. */
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
  /** Bytes in the window that were not yet taken in, bytes of the message so far, and the most that the window held. */
  #waiting = 0;
  #total = 0;
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
    try {
      this.#wasm.begin();
      for (const part of parts) this.#take(part);
      this.#wasm.finish(this.#waiting, this.#total);
      return this.#result(hashBytes);
    } finally {
      this.#wipe();
    }
  }

  mac(key: Uint8Array, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    const short = this.#shortKey(key);
    try {
      this.#setKey(short);
      this.#mac(parts);
      return this.#result(hashBytes);
    } finally {
      this.#wipe();
    }
  }

  /** Almost always to one block, which is one HMAC. */
  expand(pseudorandomKey: Uint8Array, info: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
    if (length > maxExpandedBytes) throw new RangeError(`HKDF cannot expand to ${length} bytes`);
    const short = this.#shortKey(pseudorandomKey);
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
        previous = this.#result(hashBytes);
        expanded.set(previous.subarray(0, length - block * hashBytes), block * hashBytes);
      }
      return expanded;
    } finally {
      this.#wipe();
    }
  }

  /** A key that is longer than a block is hashed first (RFC 2104 section 2). */
  #shortKey(key: Uint8Array): Uint8Array {
    return checked(key).length > blockBytes ? this.hash([key]) : key;
  }

  #setKey(key: Uint8Array): void {
    this.memory.set(key, this.#keyAt);
    this.#wasm.setKey();
  }

  #mac(parts: readonly Uint8Array[]): void {
    this.#wasm.beginMac();
    this.#waiting = this.#total = 0;
    for (const part of parts) this.#take(part);
    this.#wasm.finishMac(this.#waiting, this.#total);
  }

  /** Takes in a part. The window stays full until more comes, because the last piece of a message is not absorbed alone. */
  #take(part: Uint8Array): void {
    checked(part);
    let from = 0;
    while (from < part.length) {
      if (this.#waiting === this.windowBytes) {
        this.#wasm.absorb(this.windowBytes);
        this.#waiting = 0;
      }
      const bytes = Math.min(part.length - from, this.windowBytes - this.#waiting);
      const piece = bytes === part.length ? part : part.subarray(from, from + bytes);
      this.memory.set(piece, this.windowAt + this.#waiting);
      this.#waiting += bytes;
      from += bytes;
      if (this.#waiting > this.#used) this.#used = this.#waiting;
    }
    this.#total += part.length;
  }

  #result(length: number): Uint8Array<ArrayBuffer> {
    return this.memory.slice(this.#resultAt, this.#resultAt + length);
  }

  #wipe(): void {
    this.#wasm.wipe(this.#used);
    this.#waiting = this.#total = this.#used = 0;
  }
}

/** Shared memory is taken too: every byte is read once. */
function checked(bytes: Uint8Array): Uint8Array {
  if (bytes instanceof Uint8Array && bytes.length <= maxBytes) return bytes;
  throw new CipherError(
    "invalid_input",
    `Cannot hash: give Uint8Arrays of at most ${maxBytes} bytes, got ${describe(bytes)}`,
  );
}

/** The hash of the parts, one behind the other. */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return sharedSha256().hash(parts);
}

/** HMAC of the parts, one behind the other. HKDF-Extract is the same, its salt the key. */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return sharedSha256().mac(key, parts);
}

/** HKDF-Expand. Throws a `RangeError` for more than 255 hashes. */
export function hkdfExpandSha256(
  pseudorandomKey: Uint8Array,
  info: Uint8Array,
  length: number,
): Uint8Array<ArrayBuffer> {
  return sharedSha256().expand(pseudorandomKey, info, length);
}

/** The instance of a realm. Created with the first hash, so that importing this package compiles nothing. */
export function sharedSha256(): Sha256 {
  return shared.instance ??= new Sha256();
}

const shared: { instance?: Sha256 } = {};
