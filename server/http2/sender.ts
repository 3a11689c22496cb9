/**
 * Sends responses: pulls the next chunk of a body only when the last one is on its way, so a slow
 * peer holds its handler back. A response waits for its own window (`WINDOW_UPDATE` on its stream)
 * or, in turn with the others that do, for what they share: the connection's window and the socket.
 */
import {
  defaultMaxFrameBytes,
  defaultWindowBytes,
  type HpackEncoder,
  largestWindowBytes,
} from "../../proto/http2/mod.ts";
import type { FrameWriter } from "./frame_writer.ts";
import type { ServerResponse } from "./handler.ts";
import type { Outbox } from "./outbox.ts";

/** The sending half of a stream. */
export interface OutgoingResponse {
  readonly id: number;
  /**
   * Bytes that the peer allows on this stream; negative when it lowered its initial window (RFC
   * 9113 §6.9.2).
   */
  sendWindow: number;
  closed: boolean;
  response: ServerResponse | undefined;
  iterator: AsyncIterator<Uint8Array> | undefined;
  /** The part of the body that waits to be sent. */
  chunk: Uint8Array | undefined;
  chunkSent: number;
  /** For noticing a response that does not move. */
  progressed: boolean;
}

export interface SenderEvents {
  /** The response is complete on the wire. */
  sent(stream: OutgoingResponse): void;
  /** The body threw, or its trailers cannot be sent. */
  failed(stream: OutgoingResponse, error: unknown): void;
  /** A DATA frame went out. */
  dataSent(): void;
}

const noHeaders: readonly [string, string][] = [];

export class ResponseSender {
  readonly #writer: FrameWriter;
  readonly #outbox: Outbox;
  readonly #encoder: HpackEncoder;
  readonly #events: SenderEvents;
  /** Responses with window of their own, waiting in turn for the connection. */
  readonly #waiting = new Set<OutgoingResponse>();
  #window = defaultWindowBytes;
  initialStreamWindow = defaultWindowBytes;
  maxFrameBytes = defaultMaxFrameBytes;

  constructor(
    parts: { writer: FrameWriter; outbox: Outbox; encoder: HpackEncoder; events: SenderEvents },
  ) {
    this.#writer = parts.writer;
    this.#outbox = parts.outbox;
    this.#encoder = parts.encoder;
    this.#events = parts.events;
  }

  /**
   * Sends the head and begins with the body. Throws a TypeError, before anything is sent, for what
   * HTTP forbids.
   */
  start(stream: OutgoingResponse, response: ServerResponse, withBody: boolean): void {
    const { status, trailers } = response;
    if (!(status >= 200 && status <= 599)) {
      throw new TypeError(`Cannot answer with status ${status}`);
    }
    const body = withBody && hasBody(response) ? response.body : undefined;
    const ends = body === undefined && trailers === undefined;
    const block = this.#encoder.encode(response.headers ?? noHeaders, [[
      ":status",
      String(status),
    ]]);
    this.#writer.headers(stream.id, ends, block, this.maxFrameBytes);
    stream.response = response;
    if (body === undefined) {
      discardBody(response);
      if (ends) this.#events.sent(stream);
      else this.#finish(stream);
    } else if (body instanceof Uint8Array) {
      stream.chunk = body;
      if (this.#sendChunk(stream)) this.#next(stream);
    } else {
      stream.iterator = body[Symbol.asyncIterator]();
      this.#pull(stream, stream.iterator);
    }
  }

  /** Forgets a stream that ended early and tells its body so. */
  abandon(stream: OutgoingResponse, reason: Error): void {
    this.#waiting.delete(stream);
    stream.chunk = undefined;
    const { iterator } = stream;
    stream.iterator = undefined;
    // A body that minds being cut off learns why through throw().
    quietly(() => iterator?.throw?.(reason) ?? iterator?.return?.());
  }

  /** False when the window would exceed 2^31-1 (§6.9.1). */
  growWindow(bytes: number): boolean {
    if (this.#window + bytes > largestWindowBytes) return false;
    this.#window += bytes;
    this.resume();
    return true;
  }

  growStreamWindow(stream: OutgoingResponse, bytes: number): boolean {
    if (stream.sendWindow + bytes > largestWindowBytes) return false;
    stream.sendWindow += bytes;
    if (stream.chunk !== undefined && stream.sendWindow > 0 && !this.#waiting.has(stream)) {
      if (this.#sendChunk(stream)) this.#next(stream);
    }
    return true;
  }

  /** After a drain or more window: each waiting response in turn sends one frame. */
  resume(): void {
    for (const stream of this.#waiting) {
      if (this.#window <= 0 || this.#outbox.blocked) return;
      // Taken out and put back at the end, where the loop will meet it again: round robin.
      this.#waiting.delete(stream);
      if (stream.sendWindow <= 0) continue;
      this.#sendFrame(stream);
      if (stream.chunk === undefined) this.#next(stream);
      else if (stream.sendWindow > 0) this.#waiting.add(stream);
    }
  }

  #pull(stream: OutgoingResponse, iterator: AsyncIterator<Uint8Array>): void {
    try {
      iterator.next().then(
        (result) => this.#pulled(stream, result),
        (error) => this.#failed(stream, error),
      );
    } catch (error) {
      this.#failed(stream, error);
    }
  }

  #pulled(stream: OutgoingResponse, result: IteratorResult<Uint8Array>): void {
    if (stream.closed) return;
    if (result.done) {
      stream.iterator = undefined;
      this.#finish(stream);
    } else if (result.value instanceof Uint8Array) {
      stream.chunk = result.value.length > 0 ? result.value : undefined;
      if (this.#sendChunk(stream)) this.#next(stream);
    } else {
      this.#failed(
        stream,
        new TypeError("Cannot send a response body: it yielded something other than bytes"),
      );
    }
  }

  #failed(stream: OutgoingResponse, error: unknown): void {
    stream.iterator = undefined;
    if (!stream.closed) this.#events.failed(stream, error);
  }

  #next(stream: OutgoingResponse): void {
    if (stream.closed) return;
    if (stream.iterator !== undefined) this.#pull(stream, stream.iterator);
    else if (stream.response?.trailers !== undefined) this.#finish(stream);
    else this.#events.sent(stream); // A body of one piece carried END_STREAM on its last frame.
  }

  #finish(stream: OutgoingResponse): void {
    const trailers = stream.response?.trailers;
    if (trailers === undefined) {
      this.#writer.data(stream.id, true, new Uint8Array(0));
    } else {
      try {
        this.#writer.headers(stream.id, true, this.#encoder.encode(trailers), this.maxFrameBytes);
      } catch (error) {
        this.#events.failed(stream, error);
        return;
      }
    }
    this.#events.sent(stream);
  }

  /** True when nothing of the chunk is left; otherwise the stream waits where it belongs. */
  #sendChunk(stream: OutgoingResponse): boolean {
    while (stream.chunk !== undefined) {
      if (stream.sendWindow <= 0) return false;
      if (this.#window <= 0 || this.#outbox.blocked) {
        this.#waiting.add(stream);
        return false;
      }
      this.#sendFrame(stream);
    }
    return true;
  }

  #sendFrame(stream: OutgoingResponse): void {
    const { chunk } = stream;
    if (chunk === undefined) return;
    const left = chunk.length - stream.chunkSent;
    const length = Math.min(left, this.#window, stream.sendWindow, this.maxFrameBytes);
    const whole = stream.chunkSent === 0 && length === chunk.length;
    const part = whole ? chunk : chunk.subarray(stream.chunkSent, stream.chunkSent + length);
    const last = length === left && stream.iterator === undefined &&
      stream.response?.trailers === undefined;
    this.#writer.data(stream.id, last, part);
    this.#window -= length;
    stream.sendWindow -= length;
    stream.progressed = true;
    if (length === left) {
      stream.chunk = undefined;
      stream.chunkSent = 0;
    } else {
      stream.chunkSent += length;
    }
    this.#events.dataSent();
  }
}

function hasBody({ body }: ServerResponse): boolean {
  return body !== undefined && !(body instanceof Uint8Array && body.length === 0);
}

/** A response that nobody will read: its body may hold resources. */
export function discardBody(response: ServerResponse | undefined): void {
  const body = response?.body;
  if (body === undefined || body instanceof Uint8Array) return;
  quietly(() => body[Symbol.asyncIterator]().return?.());
}

/** Clean-up of application code, which may fail in its own ways with nobody left to tell. */
export function quietly(act: () => Promise<unknown> | undefined): void {
  try {
    act()?.catch(() => {});
  } catch {
    // Thrown instead of rejected: the same.
  }
}
