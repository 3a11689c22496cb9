/**
 * The keys of a store, all derived from its data key (HKDF-SHA-256), so that no key serves two
 * purposes.
 */
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { hmacSha256 } from "../../wasm/mod.ts";
import { utf8 } from "./bytes.ts";

export interface DerivedKeys {
  /** Encrypts records and the head. */
  readonly values: Uint8Array;
  /** HMAC of names. */
  readonly names: Uint8Array;
  /** Keyed hash of the index. */
  readonly index: Uint8Array;
  /** HMAC of the witness. */
  readonly witness: Uint8Array;
  /** Encrypts the secrets of periods. */
  readonly periods: Uint8Array;
  /** Public: tells a wrong key from a damaged head. */
  readonly id: Uint8Array;
}

export const keyIdBytes = 8;

export function deriveKeys(dataKey: Uint8Array): DerivedKeys {
  const derive = (purpose: string, bytes: number): Uint8Array =>
    hkdf(sha256, dataKey, undefined, utf8(`static-store 1 ${purpose}`), bytes);
  return {
    values: derive("values", 32),
    names: derive("names", 32),
    index: derive("index", 32),
    witness: derive("witness", 32),
    periods: derive("periods", 32),
    id: derive("id", keyIdBytes),
  };
}

export function wipeKeys(keys: DerivedKeys): void {
  for (const key of [keys.values, keys.names, keys.index, keys.witness, keys.periods]) key.fill(0);
}

export type Mac = (message: Uint8Array) => Uint8Array;

/**
 * HMAC-SHA-256 with one key for many messages. The key is copied: the derived ones are wiped when
 * the store is open.
 */
export function createMac(key: Uint8Array): Mac {
  const own = key.slice();
  return (message) => hmacSha256(own, message);
}
