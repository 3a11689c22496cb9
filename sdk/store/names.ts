/**
 * Names on disk. A record of kind K and id I lies under `r` | HMAC(K), 16 bytes | HMAC(K, I), 32
 * bytes. A reader of the disk learns how many kinds there are and how many records each has, and
 * nothing else. One kind can be listed by its prefix.
 */
import { concat, encodeUint, utf8 } from "./bytes.ts";
import type { Mac } from "./derived_keys.ts";
import { StoreFault } from "./errors.ts";

export const headName: Uint8Array<ArrayBuffer> = utf8("h");
export const recordPrefix: Uint8Array<ArrayBuffer> = utf8("r");

const kindPattern = /^[a-z][a-z0-9_-]{0,31}$/;
export const maxIdBytes = 512;
const kindTagBytes = 16;
export const kindPrefixBytes = 1 + kindTagBytes;

/** Keeps the hashed bytes of kinds and of records apart, so that they are never equal. */
const purpose = { kind: encodeUint(0, 1), record: encodeUint(1, 1) };

/**
 * An agent writes the same few records again and again, so the names of this many are remembered.
 */
const rememberedNames = 4096;

interface KindNames {
  readonly prefix: Uint8Array;
  /** The bytes that are hashed before the id of each record. */
  readonly before: Uint8Array;
  readonly names: Map<string, RecordName>;
}

export interface RecordName {
  readonly id: Uint8Array;
  readonly name: Uint8Array;
}

export class Names {
  readonly #mac: Mac;
  /** There are few kinds, so they are remembered. */
  readonly #kinds: Map<string, KindNames> = new Map();

  constructor(mac: Mac) {
    this.#mac = mac;
  }

  /** The prefix of all names of a kind. */
  kindPrefix(kind: string): Uint8Array {
    return this.#kind(kind).prefix;
  }

  recordName(kind: string, id: string): RecordName {
    const { prefix, before, names } = this.#kind(kind);
    const known = names.get(id);
    if (known !== undefined) return known;
    const idBytes = encodeId(id);
    const made = { id: idBytes, name: concat(prefix, this.#mac(concat(before, idBytes))) };
    if (names.size >= rememberedNames) names.clear();
    names.set(id, made);
    return made;
  }

  #kind(kind: string): KindNames {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    if (!kindPattern.test(kind)) {
      throw new StoreFault(
        "invalid_request",
        "A record's kind is 1 to 32 of a-z, 0-9, _ and -, starting with a letter",
      );
    }
    const bytes = utf8(kind);
    const tag = this.#mac(concat(purpose.kind, bytes)).subarray(0, kindTagBytes);
    const made = {
      prefix: concat(recordPrefix, tag),
      before: concat(purpose.record, encodeUint(bytes.length, 1), bytes),
      names: new Map<string, RecordName>(),
    };
    this.#kinds.set(kind, made);
    return made;
  }
}

function encodeId(id: string): Uint8Array<ArrayBuffer> {
  const bytes = utf8(id);
  if (bytes.length === 0 || bytes.length > maxIdBytes) {
    throw new StoreFault(
      "invalid_request",
      `A record's id has 1 to ${maxIdBytes} bytes, got ${bytes.length}`,
    );
  }
  return bytes;
}
