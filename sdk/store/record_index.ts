/**
 * The records that exist, and the batch that wrote each: in memory, rebuilt when a store is opened.
 * Its digest is the xor of a keyed hash of every (name, generation) and lies encrypted in the head,
 * so a record that vanished, came back or was replaced by an older version of itself is noticed
 * without decrypting a single value. (Multiset hash after Clarke et al., ASIACRYPT 2003: keyed, and
 * hidden from an attacker that can write to the disk.)
 *
 * The keyed hash is the GCM tag of the name, several times faster than an HMAC. Its nonce is a part
 * of the name to which the generation is added by xor: names are HMACs, which nobody can choose, so
 * no two records share one.
 */
import { type Aes256Gcm, nonceBytes, tagBytes } from "../../wasm/mod.ts";
import { encodeUint } from "./bytes.ts";
import { kindPrefixBytes } from "./names.ts";

export const digestBytes = tagBytes;

const nothing = new Uint8Array(0);

interface IndexEntry {
  readonly generation: number;
  /** The record's share of the digest. */
  readonly hash: Uint8Array;
  /** Sealed under a key of its own; see `periods.ts`. */
  readonly isSecret: boolean;
}

export class RecordIndex {
  readonly #gcm: Aes256Gcm;
  /** Entries by kind, so that listing one looks at no other. */
  readonly #kinds: Map<string, Map<string, IndexEntry>> = new Map();
  readonly #digest: Uint8Array<ArrayBuffer> = new Uint8Array(digestBytes);
  #newest = 0;

  /** The cipher's key must serve nothing else. */
  constructor(gcm: Aes256Gcm) {
    this.#gcm = gcm;
  }

  get(name: Uint8Array): number | undefined {
    return this.generationOf(textOf(name));
  }

  /** Returns the generation of the record with this name, as `textOf` writes it. */
  generationOf(text: string): number | undefined {
    return this.#kinds.get(kindOf(text))?.get(text)?.generation;
  }

  set(name: Uint8Array, generation: number, isSecret = false): void {
    const text = textOf(name);
    const hash = this.#hash(name, generation);
    const entries = this.#kinds.get(kindOf(text)) ?? new Map<string, IndexEntry>();
    this.#toggle(entries.get(text));
    this.#kinds.set(kindOf(text), entries.set(text, { generation, hash, isSecret }));
    this.#toggle({ hash });
    this.#newest = Math.max(this.#newest, generation);
  }

  delete(name: Uint8Array): void {
    const text = textOf(name);
    const entries = this.#kinds.get(kindOf(text));
    this.#toggle(entries?.get(text));
    entries?.delete(text);
    if (entries?.size === 0) this.#kinds.delete(kindOf(text));
  }

  /** The texts of names with the prefix of a kind, or with the one of all records. */
  texts(prefix: Uint8Array): string[] {
    const start = textOf(prefix);
    const kinds = start.length === kindPrefixBytes ? [start] : this.#kinds.keys();
    return Array.from(kinds, (kind) => [...this.#kinds.get(kind)?.keys() ?? []]).flat();
  }

  /**
   * The texts of names, and the generations, of all records that are sealed under keys of their
   * own.
   */
  *secrets(): Iterable<readonly [text: string, generation: number]> {
    for (const entries of this.#kinds.values()) {
      for (const [text, { generation, isSecret }] of entries) {
        if (isSecret) yield [text, generation];
      }
    }
  }

  digest(): Uint8Array<ArrayBuffer> {
    return this.#digest.slice();
  }

  /** The highest generation of any record. */
  newest(): number {
    return this.#newest;
  }

  #hash(name: Uint8Array, generation: number): Uint8Array {
    const nonce = name.slice(kindPrefixBytes, kindPrefixBytes + nonceBytes);
    encodeUint(generation, 8).forEach((byte, i) => nonce[i] = (nonce[i] ?? 0) ^ byte);
    return this.#gcm.seal({ nonce, plaintext: nothing, aad: name });
  }

  /** Adding a share twice takes it away. */
  #toggle(entry: Pick<IndexEntry, "hash"> | undefined): void {
    if (entry === undefined) return;
    for (let i = 0; i < digestBytes; i++) {
      this.#digest[i] = (this.#digest[i] ?? 0) ^ (entry.hash[i] ?? 0);
    }
  }
}

function kindOf(text: string): string {
  return text.slice(0, kindPrefixBytes);
}

/** One character a byte: the cheapest key that a `Map` compares by content. */
export function textOf(name: Uint8Array): string {
  let text = "";
  for (let i = 0; i < name.length; i++) text += String.fromCharCode(name[i] ?? 0);
  return text;
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
