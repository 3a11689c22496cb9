/**
 * All streams of one connection: opening them, serving them, ending them, and answering frames for
 * streams that are not open (RFC 9113 §5.1). Every method that handles a frame throws a
 * ConnectionError where the whole connection must end.
 */
import {
  ConnectionError,
  defaultWindowBytes,
  ErrorCode,
  errorCodeName,
  type FieldList,
  type HpackEncoder,
  largestStreamId,
} from "../../proto/http2/mod.ts";
import type { Budgets } from "./budgets.ts";
import { ClosedStreams, StreamEnd } from "./closed_streams.ts";
import type { FloodGuard } from "./flood_guard.ts";
import type { FrameWriter } from "./frame_writer.ts";
import type { Handler, ServerResponse, StandingOf } from "./handler.ts";
import type { Outbox } from "./outbox.ts";
import { areTrailers, parseRequestHead } from "./request_head.ts";
import { discardBody, type OutgoingResponse, ResponseSender, type SenderEvents } from "./sender.ts";
import type { SessionSockets, SocketPlace } from "./socket_places.ts";
import { Stream, type StreamHost } from "./stream.ts";
import { StreamAborted } from "./stream_aborted.ts";

export interface StreamsParts {
  readonly handler: Handler;
  readonly standingOf: StandingOf;
  readonly budgets: Budgets;
  readonly guard: FloodGuard;
  readonly writer: FrameWriter;
  readonly outbox: Outbox;
  readonly encoder: HpackEncoder;
  readonly remoteAddress: string;
  readonly place: SocketPlace;
  readonly defer: (task: () => void) => void;
  readonly onFault: (error: unknown) => void;
  /** The last open stream has ended. */
  readonly onEmpty: () => void;
}

/** Sent with refusals of calls that a stranger may repeat a little later. */
export const retryAfter: readonly (readonly [name: string, value: string])[] = [[
  "retry-after",
  "1",
]];

export class Streams implements StreamHost, SenderEvents {
  readonly remoteAddress: string;
  readonly sender: ResponseSender;
  readonly #parts: StreamsParts;
  readonly #budgets: Budgets;
  readonly #guard: FloodGuard;
  readonly #writer: FrameWriter;
  readonly #open = new Map<number, Stream>();
  readonly #closed = new ClosedStreams();
  #unfinishedHandlers = 0;
  /**
   * Bytes that the peer may still send on all streams together, and bytes that handlers took and
   * that were not granted again.
   */
  #receiveWindow: number;
  #ungranted = 0;
  #lastServed = largestStreamId;

  constructor(parts: StreamsParts) {
    this.#parts = parts;
    this.#budgets = parts.budgets;
    this.#guard = parts.guard;
    this.#writer = parts.writer;
    this.remoteAddress = parts.remoteAddress;
    this.sender = new ResponseSender({
      writer: parts.writer,
      outbox: parts.outbox,
      encoder: parts.encoder,
      events: this,
    });
    this.#receiveWindow = Math.max(defaultWindowBytes, this.#budgets.connectionWindowBytes);
  }

  get size(): number {
    return this.#open.size;
  }

  /** The highest identifier that the peer has opened. */
  get last(): number {
    return this.#closed.last;
  }

  get receiveWindow(): number {
    return this.#receiveWindow;
  }

  /** Handlers that still run, also for streams that are gone. */
  get unfinishedHandlers(): number {
    return this.#unfinishedHandlers;
  }

  /** Bytes of request bodies that handlers have not taken. */
  get receivedBytes(): number {
    return this.#open.values().reduce((sum, stream) => sum + stream.body.queuedBytes, 0);
  }

  /** Ignores streams that the peer opens from now on (§6.8). */
  refuseNew(): void {
    this.#lastServed = this.last;
  }

  // Incoming frames

  headers(id: number, endStream: boolean, { fields, oversized }: FieldList): void {
    const stream = this.#open.get(id);
    if (stream !== undefined) {
      if (stream.remoteEnded) return this.#reset(stream, ErrorCode.streamClosed);
      const complete = endStream && !oversized && areTrailers(fields) && stream.receiveEnd(fields);
      if (!complete) this.#reset(stream, ErrorCode.protocolError);
      return;
    }
    if (id <= this.last) return this.#late(id, "HEADERS");
    if (id > this.#lastServed) return;
    this.#closed.opened(id);
    const { concurrentStreams, unfinishedHandlers } = this.#budgets;
    if (this.size >= concurrentStreams || this.#unfinishedHandlers >= unfinishedHandlers) {
      return this.#refuse(id, ErrorCode.refusedStream);
    }
    if (oversized) return this.#answerShortly(id, endStream, 431);
    const head = parseRequestHead(fields);
    if (head === undefined) return this.#refuse(id, ErrorCode.protocolError);
    const standing = this.#parts.standingOf(head, this.#guard.isMember);
    const { refused, call } = this.#guard.begin(standing, () => this.#displaced(id));
    if (refused !== undefined) return this.#answerShortly(id, endStream, refused);

    const windows = {
      receiveWindow: this.#budgets.streamWindowBytes,
      sendWindow: this.sender.initialStreamWindow,
    };
    const opened = new Stream(head, { id, host: this, standing, ...windows });
    opened.call = call;
    this.#open.set(id, opened);
    if (standing === "member") this.#guard.vouch();
    this.#parts.place.serves();
    if (endStream && !opened.receiveEnd()) this.#reset(opened, ErrorCode.protocolError);
    else this.#serve(opened);
  }

  /**
   * `frameBytes` is what counts for flow control, padding included; `payload` may be part of a
   * larger buffer.
   */
  data(id: number, endStream: boolean, payload: Uint8Array, frameBytes: number): void {
    this.#receiveWindow -= frameBytes;
    if (this.#receiveWindow < 0) {
      throw new ConnectionError(ErrorCode.flowControlError, "DATA exceeds the connection's window");
    }
    const stream = this.#open.get(id);
    if (stream === undefined || stream.remoteEnded) {
      this.grant(frameBytes, undefined);
      return stream === undefined
        ? this.#late(id, "DATA")
        : this.#reset(stream, ErrorCode.streamClosed);
    }
    stream.receiveWindow -= frameBytes;
    if (stream.receiveWindow < 0) {
      this.grant(frameBytes, undefined);
      return this.#reset(stream, ErrorCode.flowControlError);
    }
    if (frameBytes > payload.length) this.grant(frameBytes - payload.length, stream);
    if (payload.length === 0 && !endStream) this.#guard.emptyFrame();
    if (!stream.receiveData(payload) || (endStream && !stream.receiveEnd())) {
      this.#reset(stream, ErrorCode.protocolError);
    }
  }

  rstStream(id: number, code: number): void {
    const stream = this.#open.get(id);
    if (stream === undefined) return this.#lateControl(id, "RST_STREAM");
    this.#closed.reset(id, StreamEnd.resetByPeer);
    this.#abort(
      stream,
      new StreamAborted(code, `The client reset the stream (${errorCodeName(code)})`),
    );
    this.#guard.reset();
  }

  windowUpdate(id: number, increment: number): void {
    const stream = this.#open.get(id);
    if (stream === undefined) return this.#lateControl(id, "WINDOW_UPDATE");
    if (increment === 0) return this.#reset(stream, ErrorCode.protocolError);
    if (!this.sender.growStreamWindow(stream, increment)) {
      this.#reset(stream, ErrorCode.flowControlError);
    }
  }

  /** A changed SETTINGS_INITIAL_WINDOW_SIZE moves the window of every open stream (§6.9.2). */
  setInitialWindow(bytes: number): void {
    const difference = bytes - this.sender.initialStreamWindow;
    this.sender.initialStreamWindow = bytes;
    for (const stream of this.#open.values()) {
      if (!this.sender.growStreamWindow(stream, difference)) {
        throw new ConnectionError(
          ErrorCode.flowControlError,
          "A changed initial window exceeds 2^31-1 on a stream",
        );
      }
    }
  }

  /** Resets an open stream for a mistake in a frame about it; false when it is not open. */
  resetOpen(id: number, code: number): boolean {
    const stream = this.#open.get(id);
    if (stream !== undefined) this.#reset(stream, code);
    return stream !== undefined;
  }

  // Time and the end

  tick(nowMs: number): void {
    for (const stream of this.#open.values()) {
      if (
        stream.call !== undefined &&
        nowMs - (stream.seenSinceMs ??= nowMs) >= this.#budgets.strangerCallMs
      ) {
        this.#resetUncounted(stream, ErrorCode.cancel);
        continue;
      }
      if (stream.chunk === undefined || stream.progressed) {
        stream.progressed = false;
        stream.stalledSinceMs = undefined;
      } else if (nowMs - (stream.stalledSinceMs ??= nowMs) >= this.#budgets.stalledStreamMs) {
        this.#resetUncounted(stream, ErrorCode.cancel);
      }
    }
  }

  resetAll(code: number): void {
    for (const stream of this.#open.values()) this.#resetUncounted(stream, code);
  }

  abortAll(message: string): void {
    for (const stream of this.#open.values()) {
      this.#abort(stream, new StreamAborted(ErrorCode.cancel, message));
    }
  }

  // Serving

  #serve(stream: Stream): void {
    this.#unfinishedHandlers++;
    try {
      const answer = this.#parts.handler(stream);
      if (answer instanceof Promise) {
        answer.then(
          (response) => this.#respond(stream, response),
          (error) => this.#handlerFailed(stream, error),
        );
      } else this.#respond(stream, answer);
    } catch (error) {
      this.#handlerFailed(stream, error);
    }
  }

  vouch(stream: Stream, session: SessionSockets): void {
    session.carry(this.#parts.place);
    this.#guard.vouch();
    this.#uncount(stream);
    stream.standing = "member";
  }

  #uncount(stream: Stream): void {
    stream.call?.ended();
    stream.call = undefined;
  }

  /** Somebody else needs the place of this stranger's call more. */
  #displaced(id: number): void {
    const stream = this.#open.get(id);
    if (stream !== undefined) this.#resetUncounted(stream, ErrorCode.cancel);
  }

  #handlerEnded(stream: Stream): void {
    this.#unfinishedHandlers--;
    this.#uncount(stream);
  }

  #respond(stream: Stream, response: ServerResponse): void {
    stream.running = false;
    if (stream.closed) {
      this.#handlerEnded(stream);
      return discardBody(response);
    }
    try {
      this.sender.start(stream, response, stream.method !== "HEAD");
    } catch (error) {
      discardBody(response);
      this.#answerFault(stream, error);
    }
  }

  #handlerFailed(stream: Stream, error: unknown): void {
    stream.running = false;
    if (!stream.closed) return this.#answerFault(stream, error);
    this.#handlerEnded(stream);
  }

  #answerFault(stream: Stream, error: unknown): void {
    this.#parts.onFault(error);
    this.sender.start(stream, { status: 500 }, false);
  }

  /** Without a handler: work that was begun for nothing, like a reset. */
  #answerShortly(id: number, endStream: boolean, status: 403 | 429 | 431): void {
    this.#guard.reset();
    const fields = status === 429 ? retryAfter : [];
    this.#writer.headers(
      id,
      true,
      this.#parts.encoder.encode(fields, [[":status", String(status)]]),
      this.sender.maxFrameBytes,
    );
    if (!endStream) this.#stopRequest(id);
  }

  sent(outgoing: OutgoingResponse): void {
    const stream = this.#open.get(outgoing.id);
    if (stream === undefined) return;
    this.#handlerEnded(stream);
    stream.finish();
    if (!stream.remoteEnded) this.#stopRequest(stream.id);
    this.#remove(stream);
  }

  failed(outgoing: OutgoingResponse, error: unknown): void {
    this.fault(error);
    const stream = this.#open.get(outgoing.id);
    if (stream !== undefined) this.#resetUncounted(stream, ErrorCode.internalError);
  }

  dataSent(): void {
    this.#guard.dataFrame();
  }

  fault(error: unknown): void {
    this.#parts.onFault(error);
  }

  grant(bytes: number, stream: Stream | undefined): void {
    this.#ungranted += bytes;
    if (this.#ungranted >= this.#budgets.connectionWindowBytes >> 1) {
      this.#writer.windowUpdate(0, this.#ungranted);
      this.#receiveWindow += this.#ungranted;
      this.#ungranted = 0;
    }
    if (stream === undefined) return;
    stream.ungranted += bytes;
    if (stream.ungranted >= this.#budgets.streamWindowBytes >> 1) {
      this.#writer.windowUpdate(stream.id, stream.ungranted);
      stream.receiveWindow += stream.ungranted;
      stream.ungranted = 0;
    }
  }

  /**
   * The answer is complete, the rest of the question is not needed (§8.1): the client is asked to
   * stop, and what still comes is dropped. The RST_STREAM goes into the next write, because curl
   * 7.88 loses an answer that it reads together with a reset.
   */
  #stopRequest(id: number): void {
    this.#closed.reset(id, StreamEnd.resetByUs);
    this.#parts.defer(() => this.#writer.rstStream(id, ErrorCode.noError));
  }

  // Ending

  /**
   * The peer broke a rule of one stream; making us reset streams is as costly as resetting them.
   */
  #reset(stream: Stream, code: number): void {
    this.#resetUncounted(stream, code);
    this.#guard.reset();
  }

  #resetUncounted(stream: Stream, code: number): void {
    this.#writer.rstStream(stream.id, code);
    this.#closed.reset(stream.id, StreamEnd.resetByUs);
    this.#abort(stream, new StreamAborted(code, `The stream was reset (${errorCodeName(code)})`));
  }

  #refuse(id: number, code: number): void {
    this.#writer.rstStream(id, code);
    this.#closed.reset(id, StreamEnd.resetByUs);
    this.#guard.reset();
  }

  #abort(stream: Stream, reason: StreamAborted): void {
    if (stream.running) stream.call?.gone();
    else this.#handlerEnded(stream);
    stream.abort(reason);
    this.sender.abandon(stream, reason);
    this.#remove(stream);
  }

  #remove(stream: Stream): void {
    this.#open.delete(stream.id);
    if (this.size > 0) return;
    this.#parts.place.rests();
    this.#parts.onEmpty();
  }

  /** DATA or HEADERS on a stream that is not open. */
  #late(id: number, what: string): void {
    if (id > this.#lastServed) return;
    switch (this.#closed.endOf(id)) {
      case StreamEnd.resetByUs:
        return this.#guard.controlFrame();
      case StreamEnd.resetByPeer:
        return this.#refuse(id, ErrorCode.streamClosed);
      case StreamEnd.ended:
        throw new ConnectionError(
          ErrorCode.streamClosed,
          `${what} on stream ${id}, which is closed`,
        );
      default:
        throw new ConnectionError(
          ErrorCode.protocolError,
          `${what} on stream ${id}, which was never open`,
        );
    }
  }

  /**
   * RST_STREAM or WINDOW_UPDATE on a stream that is not open: late is allowed, early is not (§5.1).
   */
  #lateControl(id: number, what: string): void {
    if (id <= this.#lastServed && this.#closed.endOf(id) === StreamEnd.idle) {
      throw new ConnectionError(ErrorCode.protocolError, `${what} on stream ${id}, which is idle`);
    }
    this.#guard.controlFrame();
  }
}
