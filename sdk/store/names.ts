/**
 * Names on disk. A record of kind K and id I lies under `r` | HMAC(K), 16 bytes | HMAC(K, I), 32 bytes: who reads the disk
 * learns how many kinds there are and how many records each has, and nothing else; one kind can be listed by its prefix.
 */
import { concat, encodeUint, utf8 } from "./bytes.ts";
import { createMac } from "./derived_keys.ts";
import { StoreError } from "./errors.ts";

export const headName: Uint8Array<ArrayBuffer> = utf8("h");
export const recordPrefix: Uint8Array<ArrayBuffer> = utf8("r");

const kindPattern = /^[a-z][a-z0-9_-]{0,31}$/;
export const maxIdBytes = 512;
const kindTagBytes = 16;
export const kindPrefixBytes = 1 + kindTagBytes;

/** What is hashed for a kind, and for a record, can never be equal. */
const purpose = { kind: encodeUint(0, 1), record: encodeUint(1, 1) };

export class Names {
  readonly #mac: (message: Uint8Array) => Uint8Array;
  readonly #prefixes: Map<string, Uint8Array> = new Map();

  constructor(key: Uint8Array) {
    this.#mac = createMac(key);
  }

  /** The prefix of all names of a kind. There are few kinds, so they are remembered. */
  kindPrefix(kind: string): Uint8Array {
    const known = this.#prefixes.get(kind);
    if (known !== undefined) return known;
    if (!kindPattern.test(kind)) {
      throw new StoreError(
        "invalid_request",
        "A record's kind is 1 to 32 of a-z, 0-9, _ and -, starting with a letter",
      );
    }
    const tag = this.#mac(concat(purpose.kind, utf8(kind))).subarray(0, kindTagBytes);
    const prefix = concat(recordPrefix, tag);
    this.#prefixes.set(kind, prefix);
    return prefix;
  }

  recordName(kind: string, id: Uint8Array): Uint8Array<ArrayBuffer> {
    const prefix = this.kindPrefix(kind);
    const kindBytes = utf8(kind);
    return concat(prefix, this.#mac(concat(purpose.record, encodeUint(kindBytes.length, 1), kindBytes, id)));
  }
}

export function encodeId(id: string): Uint8Array<ArrayBuffer> {
  const bytes = utf8(id);
  if (bytes.length === 0 || bytes.length > maxIdBytes) {
    throw new StoreError("invalid_request", `A record's id has 1 to ${maxIdBytes} bytes, got ${bytes.length}`);
  }
  return bytes;
}
