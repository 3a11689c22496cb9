/** Keys that a runtime imported, by their bytes: importing costs more than signing. The oldest go when there are too many. */

/** A channel has up to a thousand senders. */
const maxKeys = 2048;

/** The map's order is the order of use, so its first entry is the oldest. */
export function createKeyCache<Key>(importKey: (bytes: Uint8Array) => Key): (bytes: Uint8Array) => Key {
  const keys = new Map<string, Key>();
  return (bytes) => {
    const name = String.fromCharCode(...bytes);
    const key = keys.get(name) ?? importKey(bytes);
    keys.delete(name);
    keys.set(name, key);
    const oldest = keys.size > maxKeys ? keys.keys().next().value : undefined;
    if (oldest !== undefined) keys.delete(oldest);
    return key;
  };
}

/** What stands before a 32-byte seed in PKCS #8 (RFC 8410 section 7). */
export const pkcs8Prefix: Uint8Array = Uint8Array.of(
  ...[0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
);
