/**
 * Cuts the bytes of a connection into frames. A frame that lies whole in one chunk is passed on as
 * a range of that chunk, so the usual case copies and allocates nothing; a frame split over chunks
 * is gathered in a buffer of its own size, allocated only after its length was found within the
 * limit.
 */
import { ConnectionError, ErrorCode } from "./errors.ts";
import { defaultMaxFrameBytes, Flag, frameHeaderBytes, readUint31 } from "./frames.ts";

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  /** The payload is `bytes[start, end)`; valid during the call only, unless copied. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

const nothing: Uint8Array = new Uint8Array(0);

export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  readonly #preface: Uint8Array;
  /** Reused for every frame: a frame lives only during the call. */
  readonly #frame = { type: 0, flags: 0, streamId: 0, bytes: nothing, start: 0, end: 0 };
  readonly #header = new Uint8Array(frameHeaderBytes);
  #headerFilled = 0;
  #payload: Uint8Array | undefined;
  #payloadFilled = 0;
  #prefaceMatched = 0;
  #stopped = false;

  /** A server's peer begins with a preface, a client's has none. */
  constructor(onFrame: (frame: Frame) => void, preface = nothing) {
    this.#onFrame = onFrame;
    this.#preface = preface;
  }

  get prefaceSeen(): boolean {
    return this.#prefaceMatched === this.#preface.length;
  }

  /** Ignores everything from here on; the rest of a chunk being read is dropped too. */
  stop(): void {
    this.#stopped = true;
    this.#payload = undefined;
  }

  /**
   * Throws a ConnectionError for a wrong preface or a frame above the size limit, and whatever
   * `onFrame` throws.
   */
  receive(chunk: Uint8Array): void {
    let at = this.prefaceSeen ? 0 : this.#matchPreface(chunk);
    if (this.#headerFilled > 0) at = this.#finishSplitFrame(chunk, at);
    while (!this.#stopped && chunk.length - at >= frameHeaderBytes) {
      const length = payloadLength(chunk, at);
      const end = at + frameHeaderBytes + length;
      if (end > chunk.length) break;
      this.#dispatch(chunk, at, chunk, at + frameHeaderBytes, end);
      at = end;
    }
    if (!this.#stopped && at < chunk.length) this.#finishSplitFrame(chunk, at);
  }

  #matchPreface(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && !this.prefaceSeen) {
      if (chunk[at++] !== this.#preface[this.#prefaceMatched++]) {
        throw new ConnectionError(
          ErrorCode.protocolError,
          "The client did not send the HTTP/2 connection preface",
        );
      }
    }
    return at;
  }

  /**
   * Takes what the chunk has of a frame split over chunks, passes it on when complete, and returns
   * where it ended.
   */
  #finishSplitFrame(chunk: Uint8Array, from: number): number {
    let at = from;
    while (this.#headerFilled < frameHeaderBytes) {
      if (at === chunk.length) return at;
      this.#header[this.#headerFilled++] = chunk[at++] ?? 0;
    }
    const payload = this.#payload ??= new Uint8Array(payloadLength(this.#header, 0));
    const taken = Math.min(payload.length - this.#payloadFilled, chunk.length - at);
    payload.set(chunk.subarray(at, at + taken), this.#payloadFilled);
    this.#payloadFilled += taken;
    if (this.#payloadFilled === payload.length) {
      this.#payload = undefined;
      this.#payloadFilled = 0;
      this.#headerFilled = 0;
      this.#dispatch(this.#header, 0, payload, 0, payload.length);
    }
    return at + taken;
  }

  #dispatch(header: Uint8Array, at: number, bytes: Uint8Array, start: number, end: number): void {
    const frame = this.#frame;
    frame.type = header[at + 3] ?? 0;
    frame.flags = header[at + 4] ?? 0;
    frame.streamId = readUint31(header, at + 5);
    frame.bytes = bytes;
    frame.start = start;
    frame.end = end;
    this.#onFrame(frame);
  }
}

function payloadLength(header: Uint8Array, at: number): number {
  const length = (header[at] ?? 0) << 16 | (header[at + 1] ?? 0) << 8 | (header[at + 2] ?? 0);
  if (length > defaultMaxFrameBytes) {
    throw new ConnectionError(
      ErrorCode.frameSizeError,
      `A frame of ${length} bytes is above the limit of ${defaultMaxFrameBytes}`,
    );
  }
  return length;
}

/** The payload without padding (§6.1) and without the `skip` bytes of priority fields before it. */
export function unpad(frame: Frame, skip: number): { start: number; end: number } {
  if ((frame.flags & Flag.padded) === 0) {
    if (frame.end - frame.start < skip) throw tooShort("HEADERS");
    return { start: frame.start + skip, end: frame.end };
  }
  const length = frame.end - frame.start;
  if (length < 1 + skip) throw tooShort("A padded frame");
  const padding = frame.bytes[frame.start] ?? 0;
  if (padding > length - 1 - skip) {
    throw new ConnectionError(ErrorCode.protocolError, "Padding is longer than its frame");
  }
  return { start: frame.start + 1 + skip, end: frame.end - padding };
}

function tooShort(what: string): ConnectionError {
  return new ConnectionError(
    ErrorCode.frameSizeError,
    `${what} has a length that its type does not allow`,
  );
}
