/**
 * Keys that a runtime imported: importing costs more than signing. They are found by the array that
 * holds their bytes, because a group hands in the same array for every message, and by the bytes
 * themselves. An array that was changed since is found by its bytes. The oldest go when there are
 * too many.
 */
import { equalBytes } from "../codec.ts";

/** A channel has up to a thousand senders. */
const maxKeys = 2048;

export function createKeyCache<Key>(
  importKey: (bytes: Uint8Array) => Key,
): (bytes: Uint8Array) => Key {
  const byArray = new WeakMap<Uint8Array, { readonly key: Key; readonly bytes: Uint8Array }>();
  /**
   * The map's order is the order in which arrays were first seen, so its first entry is the oldest.
   */
  const byBytes = new Map<string, Key>();
  const find = (bytes: Uint8Array): Key => {
    const name = String.fromCharCode(...bytes);
    const key = byBytes.get(name) ?? importKey(bytes);
    byBytes.delete(name);
    byBytes.set(name, key);
    const oldest = byBytes.size > maxKeys ? byBytes.keys().next().value : undefined;
    if (oldest !== undefined) byBytes.delete(oldest);
    return key;
  };
  return (bytes) => {
    const known = byArray.get(bytes);
    if (known !== undefined && equalBytes(known.bytes, bytes)) return known.key;
    const key = find(bytes);
    byArray.set(bytes, { key, bytes: bytes.slice() });
    return key;
  };
}

/** The bytes before a 32-byte seed in PKCS #8 (RFC 8410 section 7). */
export const pkcs8Prefix: Uint8Array = Uint8Array.of(
  ...[
    0x30,
    0x2e,
    0x02,
    0x01,
    0x00,
    0x30,
    0x05,
    0x06,
    0x03,
    0x2b,
    0x65,
    0x70,
    0x04,
    0x22,
    0x04,
    0x20,
  ],
);
