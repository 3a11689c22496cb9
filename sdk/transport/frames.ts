/**
 * Length-prefixed messages, as gRPC and Connect stream them (a byte of flags, four of length), and
 * the four small protobuf messages that carry cells. Written by hand: they are a few bytes each,
 * and a client needs no more of protobuf than this.
 */
import { WireError } from "../../proto/mod.ts";

/** Connect's last message, in JSON; gRPC has none. */
export const endOfStreamFlag = 2;

const headBytes = 5;
/** A cell and its field, or the JSON of an error. */
const maxMessageBytes = 64 * 1024;
const cellField = 0x0a; // field 1, length-delimited
const utf8 = new TextDecoder();

/** One message `Cell` per cell. */
export function encodeCellFrames(cells: Uint8Array, cellBytes: number): Uint8Array<ArrayBuffer> {
  const field = fieldHead(cellField, cellBytes);
  const frameBytes = headBytes + field.length + cellBytes;
  const frames = new Uint8Array(cells.length / cellBytes * frameBytes);
  for (let i = 0; i < cells.length / cellBytes; i++) {
    const at = i * frameBytes;
    writeUint32(frames, at + 1, field.length + cellBytes);
    frames.set(field, at + headBytes);
    frames.set(cells.subarray(i * cellBytes, (i + 1) * cellBytes), at + headBytes + field.length);
  }
  return frames;
}

export function encodeFrame(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(headBytes + message.length);
  writeUint32(frame, 1, message.length);
  frame.set(message, headBytes);
  return frame;
}

/** The cell of a message `Cell`. */
export function decodeCell(message: Uint8Array): Uint8Array {
  const { value, end } = readBytesField(message, 0, cellField);
  if (end !== message.length) {
    throw new WireError("protocol_error", "A cell's message holds more than a cell");
  }
  return value;
}

/** `CellUpRequest`: link, index, cell. */
export function encodeCellUp(
  link: Uint8Array,
  index: number,
  cell: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const [linkHead, cellHead] = [fieldHead(0x0a, link.length), fieldHead(0x1a, cell.length)];
  const fixed64 = new Uint8Array(9);
  fixed64[0] = 0x11; // field 2, eight bytes, lowest first
  new DataView(fixed64.buffer).setBigUint64(1, BigInt(index), true);
  return concat([linkHead, link, fixed64, cellHead, cell]);
}

/** `CellDownRequest`: link. */
export function encodeCellDown(link: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat([fieldHead(0x0a, link.length), link]);
}

/** `ErrorDetail` without its epoch, which no stream ends with. */
export interface StreamErrorDetail {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** Throws `WireError`. */
export function decodeErrorDetail(bytes: Uint8Array): StreamErrorDetail {
  let detail: StreamErrorDetail = { code: "", message: "" };
  for (const { field, value } of fieldsOf(bytes)) {
    if (field === 4 && typeof value === "number") detail = { ...detail, retryAfterMs: value };
    if (typeof value === "number") continue;
    if (field === 1) detail = { ...detail, code: utf8.decode(value) };
    if (field === 2) detail = { ...detail, message: utf8.decode(value) };
  }
  return detail;
}

/** The details of a `google.rpc.Status`, by the names of their types. Throws `WireError`. */
export function* decodeStatusDetails(
  bytes: Uint8Array,
): Generator<{ readonly type: string; readonly value: Uint8Array }> {
  for (const { field, value: any } of fieldsOf(bytes)) {
    if (field !== 3 || typeof any === "number") continue;
    let [type, value] = ["", new Uint8Array()];
    for (const part of fieldsOf(any)) {
      if (typeof part.value === "number") continue;
      if (part.field === 1) type = utf8.decode(part.value).replace(/^.*\//, "");
      if (part.field === 2) value = part.value.slice();
    }
    yield { type, value };
  }
}

/** Cuts a byte stream, in chunks of any size, into messages. */
export class GrpcFrameReader {
  readonly #head = new Uint8Array(headBytes);
  #headFilled = 0;
  #message = new Uint8Array(0);
  #filled = 0;

  /**
   * The bytes are valid only during the call: they may be a view of the chunk. Throws `WireError`.
   */
  read(chunk: Uint8Array, onFrame: (flags: number, message: Uint8Array) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headFilled < headBytes) {
        const part = chunk.subarray(at, at + headBytes - this.#headFilled);
        this.#head.set(part, this.#headFilled);
        this.#headFilled += part.length;
        at += part.length;
        if (this.#headFilled < headBytes) return;
        this.#begin();
      }
      const part = chunk.subarray(at, at + this.#message.length - this.#filled);
      at += part.length;
      if (part.length === this.#message.length) {
        this.#finish(part, onFrame);
      } else {
        this.#message.set(part, this.#filled);
        this.#filled += part.length;
        if (this.#filled === this.#message.length) this.#finish(this.#message, onFrame);
      }
    }
  }

  #begin(): void {
    const length = new DataView(this.#head.buffer).getUint32(1);
    if (length === 0 || length > maxMessageBytes) {
      throw new WireError(
        "protocol_error",
        `A message of ${length} bytes where cells are expected`,
      );
    }
    if (this.#message.length !== length) this.#message = new Uint8Array(length);
    this.#filled = 0;
  }

  #finish(message: Uint8Array, onFrame: (flags: number, message: Uint8Array) => void): void {
    this.#headFilled = 0;
    onFrame(this.#head[0] ?? 0, message);
  }
}

export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function fieldHead(tag: number, length: number): Uint8Array {
  const head = [tag];
  for (let rest = length; rest > 0 || head.length === 1; rest >>>= 7) {
    head.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
  }
  return Uint8Array.from(head);
}

function readBytesField(
  message: Uint8Array,
  at: number,
  tag: number,
): { value: Uint8Array; end: number } {
  if (message[at] !== tag) {
    throw new WireError("protocol_error", "A message without the field that it must have");
  }
  const { value: length, end: start } = readVarint(message, at + 1);
  if (length > message.length - start) throw beyond();
  return { value: message.subarray(start, start + length), end: start + length };
}

/**
 * Every field of a message: numbers, and bytes of a stated length. Others are of no message that is
 * read here.
 */
function* fieldsOf(
  message: Uint8Array,
): Generator<{ readonly field: number; readonly value: number | Uint8Array }> {
  for (let at = 0; at < message.length;) {
    const tag = message[at] ?? 0;
    const { value, end } = (tag & 7) === 0
      ? readVarint(message, at + 1)
      : readBytesField(message, at, tag & ~7 | 2);
    yield { field: tag >> 3, value };
    at = end;
  }
}

function readVarint(message: Uint8Array, at: number): { value: number; end: number } {
  let value = 0;
  for (let [scale, end] = [1, at]; end < message.length && scale < 2 ** 63; scale *= 128) {
    const byte = message[end++] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, end };
  }
  throw beyond();
}

function beyond(): WireError {
  return new WireError("protocol_error", "A field goes beyond the end of its message");
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(at, value);
}
