/**
 * Bytes of RFC 9420's presentation language: what we write ourselves because it is on the path of
 * every message, and one wrapper around ts-mls' decoders, which ignore trailing bytes and answer
 * bad input in three different ways.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { encodeVectorLength, equalBytes, WireError } from "../../proto/mod.ts";
import { CipherError } from "../../wasm/mod.ts";
import type { Decoder } from "./ts_mls.ts";

export { equalBytes };

/** Why bytes or a group operation were refused. The group they were meant for is unharmed. */
export class MlsFault extends Error {
  override readonly name: string = "MlsFault";
}

/**
 * The bytes use a part that only a newer version of this library knows, or were made by an older
 * one. The message says which version to update.
 */
export class MlsVersionFault extends MlsFault {
  override readonly name = "MlsVersionFault";
}

export function uint8(value: number): Uint8Array {
  return Uint8Array.of(value);
}

export function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value);
}

export function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

export function uint64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}

/** `opaque x<V>`. */
export function vector(bytes: Uint8Array): Uint8Array {
  const length = encodeVectorLength(bytes.length);
  const encoded = new Uint8Array(length.length + bytes.length);
  encoded.set(length);
  encoded.set(bytes, length.length);
  return encoded;
}

/** `optional<T>`. */
export function optional(bytes: Uint8Array | undefined): Uint8Array {
  return bytes === undefined ? uint8(0) : concatBytes(uint8(1), bytes);
}

/**
 * A label of section 5, as the vector in which it is always used. Made once per label, at module
 * load.
 */
export function label(name: string): Uint8Array {
  return vector(utf8ToBytes(`MLS 1.0 ${name}`));
}

/** The whole of `bytes` as one `what`, or an `MlsFault`. */
export function decodeExactly<T>(decoder: Decoder<T>, bytes: Uint8Array, what: string): T {
  const { value, length } = decodeFirst(decoder, bytes, what);
  if (length !== bytes.length) {
    throw new MlsFault(`Cannot read ${what}: ${bytes.length - length} trailing bytes`);
  }
  return value;
}

/**
 * Decodes the value at the front of `bytes` and returns its length. The caller must account for the
 * rest.
 */
export function decodeFirst<T>(
  decoder: Decoder<T>,
  bytes: Uint8Array,
  what: string,
): { value: T; length: number } {
  let decoded: ReturnType<Decoder<T>>;
  try {
    decoded = decoder(bytes, 0);
  } catch (cause) {
    throw new MlsFault(`Cannot read ${what}: it is malformed`, { cause });
  }
  if (decoded === undefined) throw new MlsFault(`Cannot read ${what}: it is malformed`);
  const [value, length] = decoded;
  return { value, length };
}

/**
 * Public keys seen so far. Strings would do, but hashing them is what a large group would spend its
 * time on.
 */
export class KeySet {
  readonly #byPrefix = new Map<number, Uint8Array[]>();

  /** False when the key was there already. */
  add(key: Uint8Array): boolean {
    let prefix = 0;
    for (let i = 0; i < 6; i++) prefix = prefix * 256 + (key[i] ?? 0);
    const same = this.#byPrefix.get(prefix);
    if (same === undefined) {
      this.#byPrefix.set(prefix, [key]);
      return true;
    }
    if (same.some((other) => equalBytes(other, key))) return false;
    same.push(key);
    return true;
  }
}

/**
 * Returns undefined for a fault of the sender. Throws every other error: it says nothing about the
 * sender.
 */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Whether bytes were judged, and found malformed or not authentic. */
export function isRefusal(error: unknown): boolean {
  return error instanceof MlsFault || error instanceof WireError ||
    (error instanceof CipherError && error.code === "authentication_failed");
}

/**
 * Whether this machine could not compute: out of memory, out of stack, or WebAssembly that cannot
 * run. It says nothing about the bytes, which may be judged again later. No check of this library
 * throws such an error for bytes from outside.
 */
export function isMachineFault(error: unknown): boolean {
  return error instanceof RangeError || error instanceof WebAssembly.RuntimeError ||
    error instanceof WebAssembly.CompileError || error instanceof WebAssembly.LinkError ||
    (error instanceof Error && error.name === "InternalError"); // Firefox: too much recursion
}
