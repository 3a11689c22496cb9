/**
 * Deterministic CBOR (RFC 8949 section 4.2.1) over cborg: a value has exactly one encoding, and everything else is refused.
 * `scan` walks the bytes first, without allocating, and refuses what the contract does not allow: then cborg only builds
 * values, and its recursion and memory are bounded by what the scan has seen.
 */
import { decode, type DecodeOptions, encode } from "cborg";
import { WireError } from "./errors.ts";
import { limits } from "./limits.ts";

export type CborValue = number | boolean | null | string | Uint8Array | CborValue[] | CborMap;
export type CborMap = Map<CborValue, CborValue>;

const decodeOptions: DecodeOptions = {
  strict: true,
  useMaps: true,
  rejectDuplicateMapKeys: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowBigInt: false,
  allowInfinity: false,
  allowNaN: false,
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * cborg's default key order (shortest first) is the deterministic one for keys of one type, which is all we use; its option
 * for the general case costs three times as much. The scan refuses any other order, so a mistake here cannot go unseen.
 */
export function encodeCbor(value: CborValue): Uint8Array<ArrayBuffer> {
  return encode(value);
}

/** Refuses with `payload_too_large` above `maxBytes` and with `protocol_error` for everything that is not our CBOR. */
export function decodeCbor(bytes: Uint8Array, maxBytes: number = limits.envelopeBytes): CborValue {
  if (bytes.length > maxBytes) {
    throw new WireError(
      "payload_too_large",
      `Cannot decode CBOR: ${bytes.length} bytes, at most ${maxBytes} are allowed`,
    );
  }
  const end = scan(bytes, 0, limits.cborDepth, { left: limits.cborItems });
  if (end !== bytes.length) refuse(`${bytes.length - end} trailing bytes`);
  try {
    return decode(bytes, decodeOptions);
  } catch (cause) {
    throw new WireError("protocol_error", "Cannot decode CBOR: the value is malformed", { cause });
  }
}

/** Items that may still come. */
interface Budget {
  left: number;
}

/** Checks the item at `at` and answers where it ends. */
function scan(bytes: Uint8Array, at: number, depth: number, items: Budget): number {
  if (items.left-- === 0) refuse(`more than ${limits.cborItems} items`);
  if (depth < 0) refuse(`nested deeper than ${limits.cborDepth}`);
  const first = byteAt(bytes, at);
  const major = first >> 5;
  if (major === 7) {
    // 0xf4 false, 0xf5 true, 0xf6 null; no floats, no undefined, no other simple values, no break.
    if (first < 0xf4 || first > 0xf6) refuse(`unsupported simple value or float 0x${first.toString(16)}`);
    return at + 1;
  }
  if (major === 6) refuse("tags are not allowed");

  const headBytes = headLength(first & 0x1f);
  const argument = readArgument(bytes, at, headBytes);
  const start = at + headBytes;
  if (major <= 1) return start;
  if (argument > bytes.length - start) refuse("a length goes beyond the end");
  if (major === 2) return start + argument;
  if (major === 3) {
    checkText(bytes, start, start + argument);
    return start + argument;
  }
  return major === 4 ? scanArray(bytes, start, argument, depth, items) : scanMap(bytes, start, argument, depth, items);
}

function scanArray(bytes: Uint8Array, start: number, count: number, depth: number, items: Budget): number {
  let at = start;
  for (let i = 0; i < count; i++) at = scan(bytes, at, depth - 1, items);
  return at;
}

/** Keys strictly ascend in bytewise order of their encoding, which also rules out duplicates. */
function scanMap(bytes: Uint8Array, start: number, count: number, depth: number, items: Budget): number {
  let at = start;
  let previousStart = -1;
  let previousEnd = -1;
  for (let i = 0; i < count; i++) {
    const keyEnd = scan(bytes, at, depth - 1, items);
    if (i > 0 && !ascends(bytes, previousStart, previousEnd, at, keyEnd)) {
      refuse("map keys are repeated or out of order");
    }
    previousStart = at;
    previousEnd = keyEnd;
    at = scan(bytes, keyEnd, depth - 1, items);
  }
  return at;
}

function ascends(bytes: Uint8Array, aStart: number, aEnd: number, bStart: number, bEnd: number): boolean {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < length; i++) {
    const difference = byteAt(bytes, bStart + i) - byteAt(bytes, aStart + i);
    if (difference !== 0) return difference > 0;
  }
  return bEnd - bStart > aEnd - aStart;
}

function headLength(additional: number): number {
  if (additional < 24) return 1;
  if (additional > 27) refuse("indefinite or reserved length");
  return 1 + (1 << (additional - 24));
}

/** The argument of a head, which must be in its shortest form and a safe integer. */
function readArgument(bytes: Uint8Array, at: number, headBytes: number): number {
  if (headBytes === 1) return byteAt(bytes, at) & 0x1f;
  let argument = 0;
  for (let i = 1; i < headBytes; i++) argument = argument * 256 + byteAt(bytes, at + i);
  const smallest = headBytes === 2 ? 24 : 2 ** (4 * (headBytes - 1));
  if (argument < smallest) refuse("an integer or length is not in its shortest form");
  if (argument > Number.MAX_SAFE_INTEGER) refuse("an integer is beyond 2^53 - 1");
  return argument;
}

function checkText(bytes: Uint8Array, start: number, end: number): void {
  for (let i = start; i < end; i++) {
    if (byteAt(bytes, i) < 0x80) continue;
    try {
      utf8.decode(bytes.subarray(i, end));
    } catch (cause) {
      throw new WireError("protocol_error", "Cannot decode CBOR: text is not UTF-8", { cause });
    }
    return;
  }
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) refuse("it ends too early");
  return byte;
}

function refuse(why: string): never {
  throw new WireError("protocol_error", `Cannot decode CBOR: ${why}`);
}
