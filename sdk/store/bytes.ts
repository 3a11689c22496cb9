/** Bytes in order: joining, comparing, numbers of fixed width. Big-endian throughout, so that keys sort as numbers do. */

const text = new TextEncoder();

export function utf8(value: string): Uint8Array<ArrayBuffer> {
  return text.encode(value);
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

/** Negative, zero or positive, as blob stores order their keys. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The first key after all keys with this prefix; undefined when there is none (no prefix, or only 0xff). */
export function afterPrefix(prefix: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  let end = prefix.length;
  while (end > 0 && prefix[end - 1] === 0xff) end--;
  if (end === 0) return undefined;
  const after = prefix.slice(0, end);
  after[end - 1] = (after[end - 1] ?? 0) + 1;
  return after;
}

/** A number in a fixed width of up to 8 bytes. */
export function encodeUint(value: number, width: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes.slice(8 - width);
}

/** Undefined for a number that JavaScript cannot hold exactly. */
export function decodeUint(bytes: Uint8Array): number | undefined {
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return Number.isSafeInteger(value) ? value : undefined;
}
