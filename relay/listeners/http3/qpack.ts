/**
 * QPACK (RFC 9204) without a dynamic table: our settings forbid one, so a field is an index into
 * the static table or a literal. Only the entries that a WebTransport request can need are named;
 * others are read and dropped.
 */
import { huffmanDecode } from "../../../proto/http2/mod.ts";
import { Http3Error } from "./byte_source.ts";

/** Appendix A, as far as it matters here. An empty value is one that a request gives itself. */
const staticTable: Readonly<Record<number, readonly [name: string, value: string]>> = {
  0: [":authority", ""],
  1: [":path", "/"],
  15: [":method", "CONNECT"],
  16: [":method", "DELETE"],
  17: [":method", "GET"],
  18: [":method", "HEAD"],
  19: [":method", "OPTIONS"],
  20: [":method", "POST"],
  21: [":method", "PUT"],
  22: [":scheme", "http"],
  23: [":scheme", "https"],
  90: ["origin", ""],
};
const staticEntries = 99;

/** `:status` by its index in the static table. */
const statusIndex = { 200: 25, 404: 27, 400: 67, 403: 68 } as const;
export type StatusCode = keyof typeof statusIndex;

/**
 * A header block with nothing but the status. Without a dynamic table, required insert count and
 * base are 0.
 */
export function encodeStatus(status: StatusCode): Uint8Array<ArrayBuffer> {
  const index = statusIndex[status];
  return index < 63 ? Uint8Array.of(0, 0, 0xc0 | index) : Uint8Array.of(0, 0, 0xff, index - 63);
}

/** The fields of a request, each name once; the first value of a repeated one counts. */
export function decodeFields(block: Uint8Array): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  const decoder = new Decoder(block);
  for (let field = decoder.next(); field !== undefined; field = decoder.next()) {
    const [name, value] = field;
    if (name !== "" && !fields.has(name)) fields.set(name, value);
  }
  return fields;
}

class Decoder {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(block: Uint8Array) {
    this.#bytes = block;
    const requiredInserts = this.#integer(8);
    this.#integer(7);
    if (requiredInserts !== 0) {
      throw new Http3Error("A header block uses a dynamic table, which our settings forbid");
    }
  }

  next(): readonly [name: string, value: string] | undefined {
    const first = this.#bytes[this.#at];
    if (first === undefined) return undefined;
    if (first >= 0x80) return this.#entry(first & 0x40, this.#integer(6));
    if (first >= 0x40) {
      const [name] = this.#entry(first & 0x10, this.#integer(4));
      return [name, this.#string(7)];
    }
    if (first >= 0x20) return [this.#string(3).toLowerCase(), this.#string(7)];
    throw new Http3Error("A header block uses a dynamic table, which our settings forbid");
  }

  #entry(isStatic: number, index: number): readonly [name: string, value: string] {
    if (isStatic === 0 || index >= staticEntries) {
      throw new Http3Error("A header block names an entry that does not exist");
    }
    return staticTable[index] ?? ["", ""];
  }

  /** RFC 7541 §5.1. */
  #integer(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    let value = this.#byte() & mask;
    if (value < mask) return value;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Http3Error("An integer is too large");
  }

  /** The Huffman bit stands before a length of `prefixBits`. */
  #string(prefixBits: number): string {
    const huffman = ((this.#bytes[this.#at] ?? 0) & (1 << prefixBits)) !== 0;
    const length = this.#integer(prefixBits);
    const [start, end] = [this.#at, this.#at + length];
    if (end > this.#bytes.length) {
      throw new Http3Error("A header block ends in the middle of a field");
    }
    this.#at = end;
    if (!huffman) return String.fromCharCode(...this.#bytes.subarray(start, end));
    // No code is shorter than five bits.
    const out = new Uint8Array((length * 8 / 5 | 0) + 1);
    const decoded = huffmanDecode(this.#bytes, { start, end }, out);
    if (decoded === undefined) throw new Http3Error("A header block has an invalid Huffman code");
    return String.fromCharCode(...out.subarray(0, decoded));
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Http3Error("A header block ends in the middle of a field");
    return byte;
  }
}
