/**
 * One HTTP/2 connection, server side (RFC 9113): what each frame means in the state it finds. It owns no socket and no
 * timer: bytes, drains, ticks and the close are told to it, and it writes to a `Transport`. So a test can play any peer,
 * frame by frame, on simulated time. Long because it is the dispatch over all frames; what they act on has its own files.
 */
import { type Budgets, RateBudget } from "./budgets.ts";
import { ClosedStreams, StreamEnd } from "./closed_streams.ts";
import { ConnectionError, ErrorCode, errorCodeName, StreamAborted } from "./errors.ts";
import { type Frame, FrameReader } from "./frame_reader.ts";
import { FrameWriter } from "./frame_writer.ts";
import { defaultWindowBytes, Flag, FrameType, largestStreamId, readUint31, readUint32, Setting } from "./frames.ts";
import type { Handler, ServerResponse } from "./handler.ts";
import { checkBlockBytes, HeaderBlock } from "./header_block.ts";
import { HpackDecoder } from "./hpack/decoder.ts";
import { HpackEncoder } from "./hpack/encoder.ts";
import { Outbox, type Transport } from "./outbox.ts";
import { areTrailers, parseRequestHead } from "./request_head.ts";
import { discardBody, type Outgoing, Sender, type SenderEvents } from "./sender.ts";
import { announcedSettings, readSettings, settingBytes } from "./settings.ts";
import { Stream, type StreamHost } from "./stream.ts";
import { Watch } from "./watch.ts";

export interface ConnectionDeps {
  readonly handler: Handler;
  readonly budgets: Budgets;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Runs a task at the end of the current turn of the event loop. */
  readonly defer: (task: () => void) => void;
  /** A handler threw, or this code has a fault; the connection or stream has been ended and the process goes on. */
  readonly onFault: (error: unknown) => void;
  readonly remoteAddress: string;
}

/** How long a peer may take to close its side after we closed ours. */
const lingerMs = 2_000;
const keepAlivePing = new TextEncoder().encode("aliveyet");
const shutdownPing = new TextEncoder().encode("shutdown");
/** However much a peer would take at once, turns between streams come by frame, and a frame is queued as a whole. */
const largestSentFrameBytes = 32_768;
/** A DATA frame, either way, pays for the WINDOW_UPDATE and PING frames that come with it. */
const controlFramesPerData = 3;

export class Connection implements StreamHost, SenderEvents {
  readonly remoteAddress: string;
  readonly #deps: ConnectionDeps;
  readonly #budgets: Budgets;
  readonly #outbox: Outbox;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #decoder: HpackDecoder;
  readonly #encoder = new HpackEncoder();
  readonly #sender: Sender;
  readonly #streams = new Map<number, Stream>();
  readonly #closedStreams = new ClosedStreams();
  readonly #watch: Watch;
  readonly #resets: RateBudget;
  readonly #controlFrames: RateBudget;
  readonly #emptyFrames: RateBudget;

  #settingsSeen = false;
  #settingsAcked = false;
  #headerBlock: HeaderBlock | undefined;
  #receiveWindow: number;
  #ungranted = 0;
  #unfinishedHandlers = 0;
  /** Answered streams whose client is still sending and has not been told to stop. */
  readonly #unstopped = new Set<number>();
  /** Graceful shutdown: announced with the highest identifier, then final with the last one that will be served. */
  #shutdown: "no" | "announced" | "final" = "no";
  #shutdownAtMs = 0;
  #lastServed = largestStreamId;
  /** We sent the last frame; what still comes is ignored. */
  #over = false;
  #overAtMs: number | undefined;

  constructor(transport: Transport, deps: ConnectionDeps) {
    const { budgets } = deps;
    this.#deps = deps;
    this.#budgets = budgets;
    this.remoteAddress = deps.remoteAddress;
    this.#outbox = new Outbox(transport, deps.defer);
    this.#reader = new FrameReader((frame) => this.#frame(frame));
    this.#writer = new FrameWriter(this.#outbox);
    this.#decoder = new HpackDecoder(budgets.headerListBytes);
    this.#sender = new Sender({
      writer: this.#writer,
      outbox: this.#outbox,
      encoder: this.#encoder,
      events: this,
    });
    this.#watch = new Watch(budgets, deps.now());
    this.#resets = new RateBudget(budgets.resets, deps.now);
    this.#controlFrames = new RateBudget(budgets.controlFrames, deps.now);
    this.#emptyFrames = new RateBudget(budgets.emptyFrames, deps.now);
    this.#receiveWindow = Math.max(defaultWindowBytes, budgets.connectionWindowBytes);

    this.#writer.settings(announcedSettings(budgets));
    const extra = this.#receiveWindow - defaultWindowBytes;
    if (extra > 0) this.#writer.windowUpdate(0, extra);
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  /** Handlers that still run, also for streams that are gone. */
  get unfinishedHandlers(): number {
    return this.#unfinishedHandlers;
  }

  /** Bytes of request bodies that handlers have not taken. */
  get receivedBytes(): number {
    return [...this.#streams.values()].reduce((sum, stream) => sum + stream.body.queuedBytes, 0);
  }

  // ------------------------------------------------------------------------------------- told by the socket's owner

  receive(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#watch.heard();
    try {
      this.#reader.receive(chunk);
      if (this.#outbox.queuedBytes > this.#budgets.queuedBytes) {
        throw new ConnectionError(ErrorCode.enhanceYourCalm, "Too much waits to be read by the client");
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The socket has room again. */
  drained(): void {
    this.#outbox.drained();
    this.#sender.resume();
  }

  /** The socket is gone. */
  closed(): void {
    this.#over = true;
    this.#reader.stop();
    this.#abortAll("The connection was lost");
  }

  /** To be called about once a second. */
  tick(nowMs: number): void {
    if (this.#over) {
      if (nowMs - (this.#overAtMs ??= nowMs) >= lingerMs) this.#outbox.destroy();
      return;
    }
    if (this.#shutdown !== "no") this.#continueShutdown(nowMs);
    this.#stopRequests();
    for (const stream of this.#streams.values()) this.#checkProgress(stream, nowMs);
    const introduced = this.#settingsSeen && this.#settingsAcked;
    const facts = {
      introduced,
      headerBlockOpen: this.#headerBlock !== undefined,
      openStreams: this.#streams.size,
      lastStreamId: this.#closedStreams.last,
    };
    switch (this.#watch.tick(nowMs, facts)) {
      case "ping":
        this.#writer.ping(false, keepAlivePing);
        return;
      case "lost":
        this.closed();
        this.#outbox.destroy();
        return;
      case "idle":
        this.shutdown();
        return;
      case "handshake late":
        return this.#fail(
          this.#settingsSeen
            ? new ConnectionError(ErrorCode.settingsTimeout, "The client did not acknowledge our settings in time")
            : new ConnectionError(ErrorCode.protocolError, "The client did not introduce itself in time"),
        );
      case "header block late":
        return this.#fail(new ConnectionError(ErrorCode.enhanceYourCalm, "A header block was not completed in time"));
      case "fine":
        return;
    }
  }

  /**
   * Goes away in two steps (§6.8): first a GOAWAY that refuses nothing, so that requests already on their way are served;
   * after a round trip the final one. The connection ends when the last stream does, or at the drain time-out.
   */
  shutdown(): void {
    if (this.#over || this.#shutdown !== "no") return;
    this.#shutdown = "announced";
    this.#shutdownAtMs = this.#deps.now();
    this.#writer.goaway(largestStreamId, ErrorCode.noError, "");
    this.#writer.ping(false, shutdownPing);
  }

  // ------------------------------------------------------------------------------------------------ incoming frames

  #frame(frame: Frame): void {
    if (!this.#settingsSeen && (frame.type !== FrameType.settings || (frame.flags & Flag.ack) !== 0)) {
      throw protocolError("The client's preface must be followed by SETTINGS");
    }
    if (this.#headerBlock !== undefined && frame.type !== FrameType.continuation) {
      throw protocolError("A header block must be continued before any other frame");
    }
    switch (frame.type) {
      case FrameType.data:
        return this.#data(frame);
      case FrameType.headers:
        return this.#headers(frame);
      case FrameType.priority:
        return this.#priority(frame);
      case FrameType.rstStream:
        return this.#rstStream(frame);
      case FrameType.settings:
        return this.#settings(frame);
      case FrameType.pushPromise:
        throw protocolError("A client cannot push");
      case FrameType.ping:
        return this.#ping(frame);
      case FrameType.goaway:
        return this.#goaway(frame);
      case FrameType.windowUpdate:
        return this.#windowUpdate(frame);
      case FrameType.continuation:
        return this.#continuation(frame);
      default: // Unknown types are ignored (§4.1), but not without limit.
        return this.#spendControl(1);
    }
  }

  #data(frame: Frame): void {
    const length = frame.end - frame.start;
    if (frame.streamId === 0) throw protocolError("DATA belongs to a stream");
    const payload = unpad(frame, 0);
    this.#receiveWindow -= length;
    if (this.#receiveWindow < 0) {
      throw new ConnectionError(ErrorCode.flowControlError, "DATA exceeds the connection's window");
    }
    this.#controlFrames.giveBack(controlFramesPerData);

    const stream = this.#streams.get(frame.streamId);
    if (stream === undefined || stream.remoteEnded) {
      this.grant(length, undefined);
      if (stream !== undefined) return this.#reset(stream, ErrorCode.streamClosed);
      return this.#lateFrame(frame.streamId, "DATA", (frame.flags & Flag.endStream) !== 0);
    }
    stream.receiveWindow -= length;
    const padding = length - (payload.end - payload.start);
    if (stream.receiveWindow < 0) {
      this.grant(length, undefined);
      return this.#reset(stream, ErrorCode.flowControlError);
    }
    if (padding > 0) this.grant(padding, stream);
    const endStream = (frame.flags & Flag.endStream) !== 0;
    if (payload.end === payload.start && !endStream && !this.#emptyFrames.spend()) {
      throw new ConnectionError(ErrorCode.enhanceYourCalm, "Too many empty DATA frames");
    }
    if (!stream.receiveData(keep(frame.bytes, payload)) || (endStream && !stream.receiveEnd())) {
      this.#reset(stream, ErrorCode.protocolError);
    }
  }

  #headers(frame: Frame): void {
    const { streamId: id } = frame;
    if (id === 0 || id % 2 === 0) throw protocolError(`A client cannot open stream ${id}`);
    const hasPriority = (frame.flags & Flag.priority) !== 0;
    const { start, end } = unpad(frame, hasPriority ? 5 : 0);
    const endStream = (frame.flags & Flag.endStream) !== 0;
    if ((frame.flags & Flag.endHeaders) !== 0) {
      checkBlockBytes(end - start, this.#budgets);
      return this.#fields({ id, endStream }, frame.bytes, start, end);
    }
    this.#headerBlock = new HeaderBlock({ id, endStream }, this.#budgets);
    this.#headerBlock.add(frame.bytes, start, end);
  }

  #continuation(frame: Frame): void {
    const block = this.#headerBlock;
    if (block === undefined || block.streamId !== frame.streamId) {
      throw protocolError("CONTINUATION without a header block to continue");
    }
    block.add(frame.bytes, frame.start, frame.end);
    if ((frame.flags & Flag.endHeaders) === 0) return;
    this.#headerBlock = undefined;
    const bytes = block.join();
    this.#fields({ id: block.streamId, endStream: block.endStream }, bytes, 0, bytes.length);
  }

  #priority(frame: Frame): void {
    if (frame.streamId === 0) throw protocolError("PRIORITY belongs to a stream");
    this.#spendControl(1);
    if (frame.end - frame.start === 5) return;
    const stream = this.#streams.get(frame.streamId);
    if (stream === undefined) throw frameSizeError("PRIORITY");
    this.#reset(stream, ErrorCode.frameSizeError);
  }

  #rstStream(frame: Frame): void {
    if (frame.streamId === 0) throw protocolError("RST_STREAM belongs to a stream");
    if (frame.end - frame.start !== 4) throw frameSizeError("RST_STREAM");
    const stream = this.#streams.get(frame.streamId);
    if (stream === undefined) {
      this.#unstopped.delete(frame.streamId);
      return this.#lateControl(frame.streamId, "RST_STREAM");
    }
    const code = readUint32(frame.bytes, frame.start);
    this.#closedStreams.reset(stream.id, StreamEnd.resetByPeer);
    this.#abort(stream, new StreamAborted(code, `The client reset the stream (${errorCodeName(code)})`));
    this.#spendReset();
  }

  #settings(frame: Frame): void {
    const length = frame.end - frame.start;
    if (frame.streamId !== 0) throw protocolError("SETTINGS belongs to the connection");
    if ((frame.flags & Flag.ack) !== 0) {
      if (length !== 0) throw frameSizeError("SETTINGS");
      this.#settingsAcked = true;
      return this.#spendControl(1);
    }
    if (length % settingBytes !== 0) throw frameSizeError("SETTINGS");
    this.#spendControl(1 + length / settingBytes / 8);
    this.#settingsSeen = true;
    readSettings(frame, (id, value) => this.#apply(id, value));
    this.#writer.settingsAck();
  }

  #apply(id: number, value: number): void {
    if (id === Setting.headerTableSize) this.#encoder.setTableBytes(value);
    else if (id === Setting.maxFrameSize) this.#sender.maxFrameBytes = Math.min(value, largestSentFrameBytes);
    else if (id === Setting.initialWindowSize) {
      const difference = value - this.#sender.initialStreamWindow;
      this.#sender.initialStreamWindow = value;
      for (const stream of this.#streams.values()) {
        if (!this.#sender.growStreamWindow(stream, difference)) {
          throw new ConnectionError(ErrorCode.flowControlError, "A changed initial window exceeds 2^31-1 on a stream");
        }
      }
    }
  }

  #ping(frame: Frame): void {
    if (frame.streamId !== 0) throw protocolError("PING belongs to the connection");
    if (frame.end - frame.start !== 8) throw frameSizeError("PING");
    this.#spendControl(1);
    const payload = frame.bytes.subarray(frame.start, frame.end);
    if ((frame.flags & Flag.ack) === 0) this.#writer.ping(true, payload);
    else if (this.#shutdown === "announced" && shutdownPing.every((byte, i) => byte === payload[i])) {
      this.#finalGoaway();
    }
  }

  /** The client opens no more streams that matter to us; those that are open are served to their end. */
  #goaway(frame: Frame): void {
    if (frame.streamId !== 0) throw protocolError("GOAWAY belongs to the connection");
    if (frame.end - frame.start < 8) throw frameSizeError("GOAWAY");
    this.#spendControl(1);
    this.shutdown();
  }

  #windowUpdate(frame: Frame): void {
    if (frame.end - frame.start !== 4) throw frameSizeError("WINDOW_UPDATE");
    const increment = readUint31(frame.bytes, frame.start);
    this.#spendControl(1);
    if (frame.streamId === 0) {
      if (increment === 0) throw protocolError("A window must grow by at least one byte");
      if (!this.#sender.growWindow(increment)) {
        throw new ConnectionError(ErrorCode.flowControlError, "The connection's window exceeds 2^31-1");
      }
      return;
    }
    const stream = this.#streams.get(frame.streamId);
    if (stream === undefined) return this.#lateControl(frame.streamId, "WINDOW_UPDATE");
    if (increment === 0) return this.#reset(stream, ErrorCode.protocolError);
    if (!this.#sender.growStreamWindow(stream, increment)) this.#reset(stream, ErrorCode.flowControlError);
  }

  // -------------------------------------------------------------------------------------------------------- streams

  /** A complete header block. It is decoded whatever follows, because it changes the decoder's table. */
  #fields({ id, endStream }: { id: number; endStream: boolean }, bytes: Uint8Array, start: number, end: number): void {
    const { fields, oversized } = this.#decoder.decode(bytes, start, end);
    const stream = this.#streams.get(id);
    if (stream !== undefined) {
      if (stream.remoteEnded) return this.#reset(stream, ErrorCode.streamClosed);
      const complete = endStream && !oversized && areTrailers(fields) && stream.receiveEnd(fields);
      if (!complete) this.#reset(stream, ErrorCode.protocolError);
      return;
    }
    if (id <= this.#closedStreams.last) return this.#lateFrame(id, "HEADERS", endStream);
    if (id > this.#lastServed) return;
    this.#closedStreams.opened(id);
    const full = this.#streams.size >= this.#budgets.concurrentStreams ||
      this.#unfinishedHandlers >= this.#budgets.unfinishedHandlers;
    if (full) return this.#refuse(id, ErrorCode.refusedStream);
    if (oversized) return this.#answerTooLarge(id, endStream);
    const head = parseRequestHead(fields);
    if (head === undefined) return this.#refuse(id, ErrorCode.protocolError);

    const opened = new Stream(head, {
      id,
      host: this,
      receiveWindow: this.#budgets.streamWindowBytes,
      sendWindow: this.#sender.initialStreamWindow,
    });
    this.#streams.set(id, opened);
    if (endStream && !opened.receiveEnd()) this.#reset(opened, ErrorCode.protocolError);
    else this.#serve(opened);
  }

  #serve(stream: Stream): void {
    this.#unfinishedHandlers++;
    try {
      const answer = this.#deps.handler(stream);
      if (answer instanceof Promise) {
        answer.then((response) => this.#respond(stream, response), (error) => this.#handlerFailed(stream, error));
      } else this.#respond(stream, answer);
    } catch (error) {
      this.#handlerFailed(stream, error);
    }
  }

  #respond(stream: Stream, response: ServerResponse): void {
    stream.running = false;
    if (stream.closed) {
      this.#unfinishedHandlers--;
      return discardBody(response);
    }
    try {
      this.#sender.start(stream, response, stream.method !== "HEAD");
    } catch (error) {
      discardBody(response);
      this.#answerFault(stream, error);
    }
  }

  #handlerFailed(stream: Stream, error: unknown): void {
    stream.running = false;
    if (!stream.closed) return this.#answerFault(stream, error);
    this.#unfinishedHandlers--;
  }

  #answerFault(stream: Stream, error: unknown): void {
    this.#deps.onFault(error);
    this.#sender.start(stream, { status: 500 }, false);
  }

  #answerTooLarge(id: number, endStream: boolean): void {
    this.#spendReset();
    this.#writer.headers(id, true, this.#encoder.encode([], 431), this.#sender.maxFrameBytes);
    if (!endStream) this.#stopRequest(id);
  }

  sent(outgoing: Outgoing): void {
    const stream = this.#streams.get(outgoing.id);
    if (stream === undefined) return;
    this.#unfinishedHandlers--;
    stream.finish();
    if (!stream.remoteEnded) this.#stopRequest(stream.id);
    this.#remove(stream);
  }

  /**
   * The answer is complete, the rest of the question is not needed (§8.1): what still comes is ignored. The RST_STREAM
   * that says so waits for the next tick, because most clients stop by themselves and some lose an answer that is
   * followed by a reset at once.
   */
  #stopRequest(id: number): void {
    this.#closedStreams.reset(id, StreamEnd.resetByUs);
    if (this.#unstopped.size < this.#budgets.concurrentStreams) this.#unstopped.add(id);
    else this.#writer.rstStream(id, ErrorCode.noError);
  }

  #stopRequests(): void {
    for (const id of this.#unstopped) this.#writer.rstStream(id, ErrorCode.noError);
    this.#unstopped.clear();
  }

  failed(outgoing: Outgoing, error: unknown): void {
    this.#deps.onFault(error);
    const stream = this.#streams.get(outgoing.id);
    if (stream !== undefined) this.#resetQuietly(stream, ErrorCode.internalError);
  }

  dataSent(): void {
    this.#controlFrames.giveBack(controlFramesPerData);
  }

  grant(bytes: number, stream: Stream | undefined): void {
    if (this.#over) return;
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

  fault(error: unknown): void {
    this.#deps.onFault(error);
  }

  /** The peer broke a rule of one stream; making us reset streams is as costly as resetting them. */
  #reset(stream: Stream, code: number): void {
    this.#resetQuietly(stream, code);
    this.#spendReset();
  }

  #resetQuietly(stream: Stream, code: number): void {
    this.#writer.rstStream(stream.id, code);
    this.#closedStreams.reset(stream.id, StreamEnd.resetByUs);
    this.#abort(stream, new StreamAborted(code, `The stream was reset (${errorCodeName(code)})`));
  }

  #refuse(id: number, code: number): void {
    this.#writer.rstStream(id, code);
    this.#closedStreams.reset(id, StreamEnd.resetByUs);
    this.#spendReset();
  }

  #abort(stream: Stream, reason: StreamAborted): void {
    if (!stream.running) this.#unfinishedHandlers--;
    stream.abort(reason);
    this.#sender.abandon(stream, reason);
    this.#remove(stream);
  }

  #remove(stream: Stream): void {
    this.#streams.delete(stream.id);
    if (this.#shutdown === "final" && this.#streams.size === 0) this.#end();
  }

  /** DATA or HEADERS on a stream that is not open. */
  #lateFrame(id: number, what: string, endStream: boolean): void {
    if (id > this.#lastServed) return;
    switch (this.#closedStreams.endOf(id)) {
      case StreamEnd.resetByUs:
        if (endStream) this.#unstopped.delete(id);
        return this.#spendControl(1);
      case StreamEnd.resetByPeer:
        return this.#refuse(id, ErrorCode.streamClosed);
      case StreamEnd.ended:
        throw new ConnectionError(ErrorCode.streamClosed, `${what} on stream ${id}, which is closed`);
      default:
        throw protocolError(`${what} on stream ${id}, which was never open`);
    }
  }

  /** RST_STREAM or WINDOW_UPDATE on a stream that is not open: late is allowed, early is not (§5.1). */
  #lateControl(id: number, what: string): void {
    if (id <= this.#lastServed && this.#closedStreams.endOf(id) === StreamEnd.idle) {
      throw protocolError(`${what} on stream ${id}, which is idle`);
    }
    this.#spendControl(1);
  }

  // ----------------------------------------------------------------------------------------------- budgets and ends

  #spendControl(amount: number): void {
    if (!this.#controlFrames.spend(amount)) {
      throw new ConnectionError(ErrorCode.enhanceYourCalm, "Too many control frames");
    }
  }

  #spendReset(): void {
    if (!this.#resets.spend()) throw new ConnectionError(ErrorCode.enhanceYourCalm, "Too many streams were reset");
  }

  #checkProgress(stream: Stream, nowMs: number): void {
    if (stream.chunk === undefined || stream.progressed) {
      stream.progressed = false;
      stream.stalledSinceMs = undefined;
    } else if (nowMs - (stream.stalledSinceMs ??= nowMs) >= this.#budgets.stalledStreamMs) {
      this.#resetQuietly(stream, ErrorCode.cancel);
    }
  }

  #continueShutdown(nowMs: number): void {
    const elapsedMs = nowMs - this.#shutdownAtMs;
    // A peer that does not answer the PING has had a second of round trip.
    if (this.#shutdown === "announced" && elapsedMs >= 1_000) this.#finalGoaway();
    if (elapsedMs < this.#budgets.drainTimeoutMs) return;
    for (const stream of this.#streams.values()) this.#resetQuietly(stream, ErrorCode.cancel);
  }

  #finalGoaway(): void {
    this.#shutdown = "final";
    this.#lastServed = this.#closedStreams.last;
    this.#writer.goaway(this.#lastServed, ErrorCode.noError, "");
    if (this.#streams.size === 0) this.#end();
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    const known = error instanceof ConnectionError;
    if (!known) this.#deps.onFault(error);
    const code = known ? error.code : ErrorCode.internalError;
    this.#writer.goaway(this.#closedStreams.last, code, known ? error.message : "");
    this.#end();
    this.#abortAll(`The connection was closed (${errorCodeName(code)})`);
  }

  #end(): void {
    this.#over = true;
    this.#reader.stop();
    this.#outbox.end();
  }

  #abortAll(message: string): void {
    for (const stream of [...this.#streams.values()]) this.#abort(stream, new StreamAborted(ErrorCode.cancel, message));
  }
}

/** The payload without padding (§6.1) and without the `skip` bytes of priority fields before it. */
function unpad(frame: Frame, skip: number): { start: number; end: number } {
  if ((frame.flags & Flag.padded) === 0) {
    if (frame.end - frame.start < skip) throw frameSizeError("HEADERS");
    return { start: frame.start + skip, end: frame.end };
  }
  const length = frame.end - frame.start;
  if (length < 1 + skip) throw frameSizeError("A padded frame");
  const padding = frame.bytes[frame.start] ?? 0;
  if (padding > length - 1 - skip) throw protocolError("Padding is longer than its frame");
  return { start: frame.start + 1 + skip, end: frame.end - padding };
}

/** Bytes that outlive the frame. A small part is copied, or it would keep the whole chunk of the socket alive. */
function keep(bytes: Uint8Array, { start, end }: { start: number; end: number }): Uint8Array {
  return (end - start) * 2 >= bytes.length ? bytes.subarray(start, end) : bytes.slice(start, end);
}

function protocolError(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.protocolError, message);
}

function frameSizeError(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.frameSizeError, `${what} has a length that its type does not allow`);
}
