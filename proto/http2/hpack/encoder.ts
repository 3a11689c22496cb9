/**
 * Turns fields into header blocks. Fields that repeat (content type, grpc-status) go through the
 * dynamic table, so that the usual response is a few bytes found by two map lookups; secrets are
 * marked never-indexed.
 */
import { connectionSpecificNames, createField, type HeaderPairs, isWellFormed } from "../field.ts";
import { DynamicTable } from "./dynamic_table.ts";
import { tableBytes } from "./decoder.ts";
import { huffmanEncode, huffmanLength } from "./huffman.ts";
import { staticEntries, staticNameIndex, staticTable } from "./static_table.ts";

/**
 * An intermediary must not put these into a table either, where guesses could be tried against them
 * (§7.1).
 */
const secretNames = new Set(["authorization", "proxy-authorization", "cookie", "set-cookie"]);
/** Values that hardly ever repeat would only push useful entries out. */
const varyingNames = new Set([
  "content-length",
  "date",
  "etag",
  "grpc-message",
  "grpc-status-details-bin",
  "location",
]);
const longestIndexedValue = 128;

export class HpackEncoder {
  readonly #indexed = new Map<string, Map<string, number>>();
  readonly #table = new DynamicTable(tableBytes, (field, insertion) => {
    const values = this.#indexed.get(field.name);
    if (values?.get(field.value) !== insertion) return;
    values.delete(field.value);
    if (values.size === 0) this.#indexed.delete(field.name);
  });
  #out = new Uint8Array(256);
  #at = 0;
  #capacityBytes = tableBytes;
  /**
   * The smallest size since the last block, when the peer changed it: both must be signalled
   * (§4.2).
   */
  #smallestBytes: number | undefined;

  /** The peer's SETTINGS_HEADER_TABLE_SIZE; we use at most our own default of it. */
  setTableBytes(bytes: number): void {
    const capacity = Math.min(bytes, tableBytes);
    if (capacity === this.#capacityBytes && this.#smallestBytes === undefined) return;
    this.#smallestBytes = Math.min(this.#smallestBytes ?? capacity, capacity);
    this.#capacityBytes = capacity;
    this.#table.resize(capacity);
  }

  /**
   * The block of a head, its pseudo-headers first, or of trailers. The answer is valid until the
   * next call. Throws a TypeError for a field that may not be sent.
   */
  encode(pairs: HeaderPairs, pseudo: HeaderPairs = []): Uint8Array {
    this.#at = 0;
    this.#signalResize();
    try {
      for (const [name, value] of pseudo) this.#field(name, value);
      for (const [name, value] of pairs) {
        if (name.startsWith(":")) throw forbidden(name);
        this.#field(name, value);
      }
    } catch (error) {
      // The peer will never see this block, so entries made by it must go: the next block empties
      // both tables.
      this.#table.resize(0);
      this.#table.resize(this.#capacityBytes);
      this.#smallestBytes = 0;
      throw error;
    }
    return this.#out.subarray(0, this.#at);
  }

  #field(name: string, value: string): void {
    const insertion = this.#indexed.get(name)?.get(value);
    if (insertion !== undefined) {
      this.#integer(0x80, 7, staticEntries + this.#table.insertions - insertion);
      return;
    }
    const staticIndex = staticFieldIndex.get(name)?.get(value);
    if (staticIndex !== undefined) this.#integer(0x80, 7, staticIndex);
    else if (name !== name.toLowerCase()) this.#field(name.toLowerCase(), value);
    else this.#literal(name, value);
  }

  #literal(name: string, value: string): void {
    if (connectionSpecificNames.has(name)) return;
    if (!isWellFormed(name.startsWith(":") ? name.slice(1) : name, value)) throw forbidden(name);
    const secret = secretNames.has(name);
    const indexing = !secret && !varyingNames.has(name) && value.length <= longestIndexedValue;
    const nameIndex = staticNameIndex.get(name) ?? 0;
    if (indexing) this.#integer(0x40, 6, nameIndex);
    else this.#integer(secret ? 0x10 : 0x00, 4, nameIndex);
    if (nameIndex === 0) this.#string(name);
    this.#string(value);
    if (indexing) this.#remember(name, value);
  }

  #remember(name: string, value: string): void {
    if (!this.#table.insert(createField(name, value))) return;
    const values = this.#indexed.get(name) ?? new Map<string, number>();
    values.set(value, this.#table.insertions - 1);
    this.#indexed.set(name, values);
  }

  #signalResize(): void {
    if (this.#smallestBytes === undefined) return;
    if (this.#smallestBytes < this.#capacityBytes) this.#integer(0x20, 5, this.#smallestBytes);
    this.#integer(0x20, 5, this.#capacityBytes);
    this.#smallestBytes = undefined;
  }

  #integer(pattern: number, prefixBits: number, value: number): void {
    this.#makeRoom(8);
    const mask = (1 << prefixBits) - 1;
    if (value < mask) {
      this.#out[this.#at++] = pattern | value;
      return;
    }
    this.#out[this.#at++] = pattern | mask;
    let rest = value - mask;
    for (; rest >= 0x80; rest >>>= 7) this.#out[this.#at++] = rest & 0x7f | 0x80;
    this.#out[this.#at++] = rest;
  }

  #string(text: string): void {
    const huffman = huffmanLength(text);
    if (huffman < text.length) {
      this.#integer(0x80, 7, huffman);
      this.#makeRoom(huffman);
      this.#at = huffmanEncode(text, this.#out, this.#at);
      return;
    }
    this.#integer(0x00, 7, text.length);
    this.#makeRoom(text.length);
    for (let i = 0; i < text.length; i++) this.#out[this.#at++] = text.charCodeAt(i);
  }

  #makeRoom(bytes: number): void {
    if (this.#out.length - this.#at >= bytes) return;
    const larger = new Uint8Array(Math.max(this.#out.length * 2, this.#at + bytes));
    larger.set(this.#out.subarray(0, this.#at));
    this.#out = larger;
  }
}

const staticFieldIndex: ReadonlyMap<string, ReadonlyMap<string, number>> = (() => {
  const byName = new Map<string, Map<string, number>>();
  staticTable.forEach(({ name, value }, i) => {
    const values = byName.get(name) ?? new Map<string, number>();
    byName.set(name, values.set(value, i + 1));
  });
  return byName;
})();

function forbidden(name: string): TypeError {
  return new TypeError(
    `Cannot send header "${
      name.slice(0, 64)
    }": its name or value has characters that HTTP/2 forbids`,
  );
}
