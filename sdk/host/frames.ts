/**
 * Frames between a program and the process that holds its agent: `u32 length | u32 header length |
 * header (JSON) | bytes`, little endian; the length counts what follows it. A frame is judged by
 * its first bytes, before anything is reserved for it, and each of its bytes is copied once.
 */
import { createError } from "../base/errors.ts";

export const protocolVersion = 1;
export const maxFrameBytes: number = 8 * 1024 * 1024;
export const maxHeaderBytes: number = 4 * 1024 * 1024;

const lengthBytes = 4;
const [encoder, decoder] = [
  new TextEncoder(),
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }),
];
const nothing = new Uint8Array(0);

/** The fields of a frame: everything but its bytes. */
export type FrameHeader = Readonly<Record<string, unknown>>;

export interface HostFrame {
  readonly header: FrameHeader;
  readonly bytes: Uint8Array;
}

/** Throws `payload_too_large`. */
export function encodeFrame(
  header: FrameHeader,
  bytes: Uint8Array = nothing,
): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(JSON.stringify(header));
  const length = lengthBytes + head.length + bytes.length;
  if (head.length > maxHeaderBytes || length > maxFrameBytes) {
    const text =
      `A frame has at most ${maxFrameBytes} bytes, ${maxHeaderBytes} of them in its header; this one has ${length}`;
    throw createError("payload_too_large", text);
  }
  const frame = new Uint8Array(lengthBytes + length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, length, true);
  view.setUint32(lengthBytes, head.length, true);
  frame.set(head, 2 * lengthBytes);
  frame.set(bytes, 2 * lengthBytes + head.length);
  return frame;
}

/**
 * Turns pieces of a stream into frames. Throws `protocol_error` for anything that is not a frame:
 * nothing after it can be read.
 */
export class HostFrameReader {
  #chunks: Uint8Array[] = [];
  /** How many bytes of the first piece were taken already. */
  #taken = 0;
  #available = 0;
  /** Bytes still missing of a frame; undefined between two frames. */
  #length: number | undefined;
  #headBytes: number | undefined;

  /** Bytes of a frame that is not complete. */
  get waiting(): number {
    return this.#available;
  }

  *push(chunk: Uint8Array): Generator<HostFrame, void, undefined> {
    if (chunk.length > 0) this.#chunks.push(chunk);
    this.#available += chunk.length;
    for (;;) {
      if (this.#length === undefined) {
        if (this.#available < lengthBytes) return;
        this.#length = checkLength(readUint32(this.#take(lengthBytes)));
      }
      if (this.#headBytes === undefined) {
        if (this.#available < lengthBytes) return;
        this.#length -= lengthBytes;
        this.#headBytes = checkHeadBytes(readUint32(this.#take(lengthBytes)), this.#length);
      }
      if (this.#available < this.#length) return;
      const [body, headBytes] = [this.#take(this.#length), this.#headBytes];
      this.#length = this.#headBytes = undefined;
      yield { header: parseHeader(body.subarray(0, headBytes)), bytes: body.subarray(headBytes) };
    }
  }

  /** In one piece of its own: what is given away shares no memory with what comes later. */
  #take(length: number): Uint8Array {
    const taken = new Uint8Array(length);
    for (let at = 0; at < length;) {
      const [first = nothing] = this.#chunks;
      const part = first.subarray(this.#taken, this.#taken + length - at);
      taken.set(part, at);
      at += part.length;
      this.#taken += part.length;
      if (this.#taken < first.length) continue;
      this.#chunks.shift();
      this.#taken = 0;
    }
    this.#available -= length;
    return taken;
  }
}

function checkLength(length: number): number {
  if (length < lengthBytes) throw notAFrame(`its length is ${length}`);
  if (length > maxFrameBytes) {
    throw notAFrame(`it has ${length} bytes, at most ${maxFrameBytes} are allowed`);
  }
  return length;
}

function checkHeadBytes(headBytes: number, bodyBytes: number): number {
  if (headBytes <= Math.min(bodyBytes, maxHeaderBytes)) return headBytes;
  throw notAFrame(`its header has ${headBytes} bytes`);
}

function parseHeader(head: Uint8Array): FrameHeader {
  let parsed: unknown;
  try {
    parsed = JSON.parse(decoder.decode(head));
  } catch {
    throw notAFrame("its header is no JSON");
  }
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) {
    return parsed as FrameHeader; // cast: an object that came from JSON
  }
  throw notAFrame("its header is not an object");
}

function readUint32(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, lengthBytes).getUint32(0, true);
}

function notAFrame(why: string): Error {
  return createError(
    "protocol_error",
    `The other side sent bytes that are not a frame: ${why}; end it and start it again`,
  );
}
