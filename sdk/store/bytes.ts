/**
 * Bytes in order: joining, comparing, numbers of fixed width. Big-endian throughout, so that keys
 * sort as numbers do.
 */

const text = new TextEncoder();

/** `TextEncoder` costs microseconds a call, and almost all our texts are short and ASCII. */
export function utf8(value: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(value.length);
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code > 0x7f) return text.encode(value);
    bytes[i] = code;
  }
  return bytes;
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Negative, zero or positive, as blob stores order their keys. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/**
 * The first key after all keys with this prefix; undefined when there is none (no prefix, or only
 * 0xff).
 */
export function afterPrefix(prefix: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  let end = prefix.length;
  while (end > 0 && prefix[end - 1] === 0xff) end--;
  if (end === 0) return undefined;
  const after = prefix.slice(0, end);
  after[end - 1] = (after[end - 1] ?? 0) + 1;
  return after;
}

/**
 * A whole number in a fixed width of up to 8 bytes, which must be wide enough. In halves:
 * remainders of doubles are slow.
 */
export function encodeUint(value: number, width: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(width);
  const [low, high] = [value >>> 0, Math.floor(value / 2 ** 32)];
  for (let i = 0; i < width; i++) {
    bytes[width - 1 - i] = i < 4 ? low >>> (8 * i) : high >>> (8 * (i - 4));
  }
  return bytes;
}

/** Undefined for a number that JavaScript cannot hold exactly. */
export function decodeUint(bytes: Uint8Array): number | undefined {
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return Number.isSafeInteger(value) ? value : undefined;
}

/**
 * Joins parts like `concat`, in a buffer that it uses again: allocating and zeroing a few kilobytes
 * takes longer than encrypting them. The result is valid until the next call, and the caller zeros
 * it when it was secret.
 */
export class Scratch {
  readonly #bytes: Uint8Array<ArrayBuffer>;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    let at = 0;
    for (const part of parts) {
      if (at + part.length > this.#bytes.length) return concat(...parts);
      this.#bytes.set(part, at);
      at += part.length;
    }
    return this.#bytes.subarray(0, at);
  }
}
