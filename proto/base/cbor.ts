/**
 * Deterministic CBOR (RFC 8949 section 4.2.1): a value has exactly one encoding, and everything
 * else is refused. cborg encodes. Decoding is our own: the contract forbids most of CBOR, so every
 * byte of an input must be judged anyway, and the pass that judges also builds the value. Depth and
 * number of items are bounded, so that small input cannot become a large value.
 */
import { encode } from "cborg";
import { WireError } from "./errors.ts";
import { limits } from "./limits.ts";

export type CborValue = number | boolean | null | string | Uint8Array | CborValue[] | CborMap;
export type CborMap = Map<CborValue, CborValue>;

/** Major types; a head is one of them in three bits, and its argument. */
const [uint, negative, byteString, textString, array, tag] = [0, 1, 2, 3, 4, 6];
const [falseByte, trueByte, nullByte] = [0xf4, 0xf5, 0xf6];

/** Nearly all texts are short and ASCII. A decoder's call costs more than such a text. */
const shortText = 64;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * cborg's default key order (shortest first) is the deterministic one for keys of one type, which
 * is all we use; its option for the general case costs three times as much. Decoding refuses any
 * other order, so a mistake here cannot go unseen.
 */
export function encodeCbor(value: CborValue): Uint8Array<ArrayBuffer> {
  return plain(encode(value));
}

/**
 * Where there is Node's Buffer, cborg answers one: its `slice` shares memory, and parts of it would
 * be Buffers too.
 */
function plain<Memory extends ArrayBufferLike>(bytes: Uint8Array<Memory>): Uint8Array<Memory> {
  return bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * Refuses with `payload_too_large` above `maxBytes` and with `protocol_error` for everything that
 * is not our CBOR.
 */
export function decodeCbor(bytes: Uint8Array, maxBytes: number = limits.envelopeBytes): CborValue {
  if (bytes.length > maxBytes) {
    throw new WireError(
      "payload_too_large",
      `Cannot decode CBOR: ${bytes.length} bytes, at most ${maxBytes} are allowed`,
    );
  }
  return decodeWhole(bytes, limits.cborItems);
}

/**
 * The same of a record that the caller wrote itself and has authenticated: it is no bomb, and may
 * have as many items as bytes.
 */
export function decodeOwnCbor(bytes: Uint8Array): CborValue {
  return decodeWhole(bytes, bytes.length);
}

function decodeWhole(bytes: Uint8Array, maxItems: number): CborValue {
  const reader = new CborItemReader(plain(bytes), maxItems);
  const value = reader.read(limits.cborDepth);
  if (reader.at !== bytes.length) refuse(`${bytes.length - reader.at} trailing bytes`);
  return value;
}

/**
 * The first value of these bytes and how many it takes, at most `maxBytes`: for a value that others
 * follow.
 */
export function decodeFirstCbor(
  bytes: Uint8Array,
  maxBytes: number,
): { readonly value: CborValue; readonly length: number } {
  const reader = new CborItemReader(plain(bytes.subarray(0, maxBytes)), limits.cborItems);
  const value = reader.read(limits.cborDepth);
  return { value, length: reader.at };
}

class CborItemReader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #maxItems: number;
  #itemsLeft: number;

  constructor(bytes: Uint8Array, maxItems: number) {
    this.#bytes = bytes;
    this.#maxItems = this.#itemsLeft = maxItems;
  }

  read(depth: number): CborValue {
    if (this.#itemsLeft-- === 0) refuse(`more than ${this.#maxItems} items`);
    if (depth < 0) refuse(`nested deeper than ${limits.cborDepth}`);
    const first = this.#next();
    const major = first >> 5;
    if (major > tag) return simpleValue(first);
    if (major === tag) refuse("tags are not allowed");

    const argument = this.#argument(first & 0x1f);
    if (major === uint) return argument;
    if (major === negative) return -1 - (argument < Number.MAX_SAFE_INTEGER ? argument : tooBig());
    if (argument > this.#bytes.length - this.at) refuse("a length goes beyond the end");
    switch (major) {
      case byteString:
        return this.#take(argument).slice();
      case textString:
        return textOf(this.#take(argument));
      case array:
        return this.#list(argument, depth - 1);
      default:
        return this.#map(argument, depth - 1);
    }
  }

  #list(count: number, depth: number): CborValue[] {
    const items: CborValue[] = [];
    for (let i = 0; i < count; i++) items.push(this.read(depth));
    return items;
  }

  /** Keys strictly ascend in bytewise order of their encoding, which also rules out duplicates. */
  #map(count: number, depth: number): CborMap {
    const items: CborMap = new Map();
    let previous: Uint8Array | undefined;
    for (let i = 0; i < count; i++) {
      const start = this.at;
      const key = this.read(depth);
      const encoded = this.#bytes.subarray(start, this.at);
      if (previous !== undefined && compare(previous, encoded) >= 0) {
        refuse("map keys are repeated or out of order");
      }
      previous = encoded;
      items.set(key, this.read(depth));
    }
    return items;
  }

  /** The argument of a head, which must be in its shortest form and a safe integer. */
  #argument(additional: number): number {
    if (additional < 24) return additional;
    if (additional > 27) refuse("indefinite or reserved length");
    const length = 1 << (additional - 24);
    let argument = 0;
    for (let i = 0; i < length; i++) argument = argument * 256 + this.#next();
    if (argument < (length === 1 ? 24 : 2 ** (4 * length))) {
      refuse("an integer or length is not in its shortest form");
    }
    return argument <= Number.MAX_SAFE_INTEGER ? argument : tooBig();
  }

  #next(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) refuse("it ends too early");
    return byte;
  }

  #take(length: number): Uint8Array {
    const start = this.at;
    this.at += length;
    return this.#bytes.subarray(start, this.at);
  }
}

/** No floats, no undefined, no other simple values, no break. */
function simpleValue(byte: number): boolean | null {
  if (byte === nullByte) return null;
  if (byte === falseByte || byte === trueByte) return byte === trueByte;
  return refuse(`unsupported simple value or float 0x${byte.toString(16)}`);
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length <= shortText && isAscii(bytes)) {
    return Reflect.apply(String.fromCharCode, undefined, bytes);
  }
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new WireError("protocol_error", "Cannot decode CBOR: text is not UTF-8", { cause });
  }
}

function isAscii(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if ((bytes[i] ?? 0) > 0x7f) return false;
  return true;
}

function tooBig(): never {
  return refuse("an integer is beyond 2^53 - 1");
}

function refuse(why: string): never {
  throw new WireError("protocol_error", `Cannot decode CBOR: ${why}`);
}

/** Bytewise lexicographic. */
function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
