/**
 * Turns header blocks into fields (RFC 7541 §§ 3, 6). A block must be decoded even when its request
 * is refused, because it changes the table; so a list above its limit is decoded to the end, and
 * only what is within the limit is kept.
 */
import { ConnectionError, ErrorCode } from "../errors.ts";
import { createField, type Field } from "../field.ts";
import { DynamicTable } from "./dynamic_table.ts";
import { huffmanDecode } from "./huffman.ts";
import { staticEntries, staticTable } from "./static_table.ts";

/** The size that a peer may use before it knows our settings; we never announce another. */
export const tableBytes = 4_096;

/**
 * Above any length or index that can occur in a bounded block, far below the precision of a number.
 */
const largestInteger = 2 ** 28;

export interface FieldList {
  readonly fields: Field[];
  /** More than the limit was sent; `fields` is incomplete. */
  readonly oversized: boolean;
}

export class HpackDecoder {
  readonly #maxListBytes: number;
  readonly #table = new DynamicTable(tableBytes);
  #scratch = new Uint8Array(256);
  #bytes: Uint8Array = this.#scratch;
  #at = 0;
  #end = 0;

  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes;
  }

  /**
   * Decodes the block `bytes[start, end)`. Throws a ConnectionError: after a bad block the tables
   * no longer agree.
   */
  decode(bytes: Uint8Array, start: number, end: number): FieldList {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    const fields: Field[] = [];
    let listBytes = 0;
    let updatesAllowed = true;
    while (this.#at < end) {
      const first = bytes[this.#at] ?? 0;
      if ((first & 0xe0) === 0x20) {
        if (!updatesAllowed) throw broken("a table size update follows a field");
        this.#resizeTable();
        continue;
      }
      updatesAllowed = false;
      const field = this.#field(first);
      listBytes += field.size;
      if (listBytes <= this.#maxListBytes) fields.push(field);
    }
    this.#bytes = this.#scratch;
    return { fields, oversized: listBytes > this.#maxListBytes };
  }

  #field(first: number): Field {
    if (first >= 0x80) return this.#lookUp(this.#integer(7));
    const indexing = first >= 0x40;
    // Literals without indexing and never-indexed ones (0x10) differ only for intermediaries.
    const nameIndex = this.#integer(indexing ? 6 : 4);
    const name = nameIndex === 0 ? this.#string() : this.#lookUp(nameIndex).name;
    const field = createField(name, this.#string());
    if (indexing) this.#table.insert(field);
    return field;
  }

  #lookUp(index: number): Field {
    const field = index <= staticEntries
      ? staticTable[index - 1]
      : this.#table.get(index - staticEntries - 1);
    if (field === undefined) throw broken(`index ${index} names no entry`);
    return field;
  }

  #resizeTable(): void {
    const bytes = this.#integer(5);
    if (bytes > tableBytes) {
      throw broken(`a table of ${bytes} bytes is above the limit of ${tableBytes}`);
    }
    this.#table.resize(bytes);
  }

  /** RFC 7541 §5.1: a prefix of some bits, then groups of seven. */
  #integer(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    let value = (this.#bytes[this.#at++] ?? 0) & mask;
    if (value < mask) return value;
    for (let factor = 1;; factor *= 128) {
      if (this.#at >= this.#end) throw broken("an integer is cut off");
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (value > largestInteger || factor > largestInteger) {
        throw broken("an integer is too large");
      }
      if (byte < 0x80) return value;
    }
  }

  #string(): string {
    if (this.#at >= this.#end) throw broken("a string is cut off");
    const huffman = (this.#bytes[this.#at] ?? 0) >= 0x80;
    const length = this.#integer(7);
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) throw broken("a string is cut off");
    this.#at = end;
    if (!huffman) return latin1(this.#bytes.subarray(start, end));
    // No code is shorter than five bits.
    const room = (length * 8 / 5 | 0) + 1;
    if (this.#scratch.length < room) this.#scratch = new Uint8Array(room);
    const decoded = huffmanDecode(this.#bytes, { start, end }, this.#scratch);
    if (decoded === undefined) throw broken("a string has an invalid Huffman code");
    return latin1(this.#scratch.subarray(0, decoded));
  }
}

/** One character per byte; in pieces, because arguments live on the stack. */
function latin1(bytes: Uint8Array): string {
  if (bytes.length <= 4_096) return String.fromCharCode(...bytes);
  let text = "";
  for (let at = 0; at < bytes.length; at += 4_096) {
    text += String.fromCharCode(...bytes.subarray(at, at + 4_096));
  }
  return text;
}

function broken(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.compressionError, `Cannot decode a header block: ${what}`);
}
