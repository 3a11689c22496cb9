/**
 * One HTTP/2 connection, server side (RFC 9113): the meaning of each frame, and how a connection
 * begins and ends. It owns no socket and no timer: bytes, drains, ticks and the close are told to
 * it, and it writes to a `Transport`. So a test can play any peer, frame by frame, on simulated
 * time.
 */
import {
  checkBlockBytes,
  clientPreface,
  ConnectionError,
  defaultWindowBytes,
  ErrorCode,
  errorCodeName,
  Flag,
  type Frame,
  FrameReader,
  FrameType,
  HeaderBlock,
  HpackDecoder,
  HpackEncoder,
  largestStreamId,
  readSettings,
  readUint31,
  readUint32,
  Setting,
  settingBytes,
  unpad,
} from "../../proto/http2/mod.ts";
import type { Budgets } from "./budgets.ts";
import { FloodGuard } from "./flood_guard.ts";
import { FrameWriter } from "./frame_writer.ts";
import type { Handler, StandingOf } from "./handler.ts";
import { Outbox, type Transport } from "./outbox.ts";
import type { PeerBudget } from "./peer_budgets.ts";
import type { SocketPlace } from "./socket_places.ts";
import { announcedSettings } from "./settings.ts";
import { Streams } from "./streams.ts";
import { ConnectionTimeouts } from "./connection_timeouts.ts";

export interface ConnectionDeps {
  readonly handler: Handler;
  readonly budgets: Budgets;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Runs a task at the end of the current turn of the event loop. */
  readonly defer: (task: () => void) => void;
  /**
   * A handler threw, or this code has a fault; the connection or stream has been ended and the
   * process goes on.
   */
  readonly onFault: (error: unknown) => void;
  readonly remoteAddress: string;
  /** The budget of all connections of this address. */
  readonly peer: PeerBudget;
  /** Its socket's among those of this address. */
  readonly place: SocketPlace;
  readonly standingOf: StandingOf;
}

/** How long a peer may take to close its side after we closed ours. */
const lingerMs = 2_000;
const keepAlivePing = new TextEncoder().encode("aliveyet");
const shutdownPing = new TextEncoder().encode("shutdown");
/**
 * However much a peer would take at once, turns between streams come by frame, and a frame is
 * queued as a whole.
 */
const largestSentFrameBytes = 32_768;

export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #budgets: Budgets;
  readonly #guard: FloodGuard;
  readonly #outbox: Outbox;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #decoder: HpackDecoder;
  readonly #encoder = new HpackEncoder();
  readonly #streams: Streams;
  readonly #watch: ConnectionTimeouts;

  #settingsSeen = false;
  #settingsAcked = false;
  #headerBlock: HeaderBlock | undefined;
  /**
   * Graceful shutdown: announced with the highest identifier, then final with the last one that
   * will be served.
   */
  #shutdown: "no" | "announced" | "final" = "no";
  #shutdownAtMs = 0;
  /** We sent the last frame; what still comes is ignored. */
  #over = false;
  #overAtMs: number | undefined;

  constructor(transport: Transport, deps: ConnectionDeps) {
    const { budgets } = deps;
    this.#deps = deps;
    this.#budgets = budgets;
    this.#guard = new FloodGuard(budgets, deps.peer, deps.now);
    this.#outbox = new Outbox(transport, deps.defer);
    this.#reader = new FrameReader((frame) => this.#frame(frame), clientPreface);
    this.#writer = new FrameWriter(this.#outbox);
    this.#decoder = new HpackDecoder(budgets.headerListBytes);
    this.#streams = new Streams({
      ...deps,
      guard: this.#guard,
      writer: this.#writer,
      outbox: this.#outbox,
      encoder: this.#encoder,
      onEmpty: () => this.#shutdown === "final" && !this.#over && this.#end(),
    });
    this.#watch = new ConnectionTimeouts(budgets, deps.now());

    this.#writer.settings(announcedSettings(budgets));
    const extra = this.#streams.receiveWindow - defaultWindowBytes;
    if (extra > 0) this.#writer.windowUpdate(0, extra);
  }

  /** Nothing that still comes is read. */
  get isOver(): boolean {
    return this.#over;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  /** Handlers that still run, also for streams that are gone. */
  get unfinishedHandlers(): number {
    return this.#streams.unfinishedHandlers;
  }

  /** Bytes of request bodies that handlers have not taken. */
  get receivedBytes(): number {
    return this.#streams.receivedBytes;
  }

  // Told by the socket's owner

  receive(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#watch.heard();
    try {
      this.#guard.received();
      this.#reader.receive(chunk);
      if (this.#outbox.queuedBytes > this.#budgets.queuedBytes) {
        throw new ConnectionError(
          ErrorCode.enhanceYourCalm,
          "Too much waits to be read by the client",
        );
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The socket has room again. */
  drained(): void {
    this.#outbox.drained();
    this.#streams.sender.resume();
  }

  /** The socket is gone. */
  closed(): void {
    this.#over = true;
    this.#reader.stop();
    this.#outbox.destroy();
    this.#streams.abortAll("The connection was lost");
  }

  /** To be called about once a second. */
  tick(nowMs: number): void {
    if (this.#over) {
      if (nowMs - (this.#overAtMs ??= nowMs) >= lingerMs) this.#outbox.destroy();
      return;
    }
    if (this.#shutdown !== "no") this.#continueShutdown(nowMs);
    this.#streams.tick(nowMs);
    const introduced = this.#settingsSeen && this.#settingsAcked;
    const facts = {
      introduced,
      headerBlockOpen: this.#headerBlock !== undefined,
      openStreams: this.#streams.size,
      lastStreamId: this.#streams.last,
    };
    switch (this.#watch.tick(nowMs, facts)) {
      case "ping":
        this.#writer.ping(false, keepAlivePing);
        return;
      case "lost":
        return this.closed();
      case "idle":
        this.shutdown();
        return;
      case "handshake late":
        return this.#fail(
          this.#settingsSeen
            ? new ConnectionError(
              ErrorCode.settingsTimeout,
              "The client did not acknowledge our settings in time",
            )
            : new ConnectionError(
              ErrorCode.protocolError,
              "The client did not introduce itself in time",
            ),
        );
      case "header block late":
        return this.#fail(
          new ConnectionError(
            ErrorCode.enhanceYourCalm,
            "A header block was not completed in time",
          ),
        );
      case "fine":
        return;
    }
  }

  /**
   * Goes away in two steps (§6.8): first a GOAWAY that refuses nothing, so that requests already on
   * their way are served; after a round trip the final one. The connection ends when the last
   * stream does, or at the drain time-out.
   */
  shutdown(): void {
    if (this.#over || this.#shutdown !== "no") return;
    this.#shutdown = "announced";
    this.#shutdownAtMs = this.#deps.now();
    this.#writer.goaway(largestStreamId, ErrorCode.noError, "");
    this.#writer.ping(false, shutdownPing);
  }

  // Incoming frames

  #frame(frame: Frame): void {
    if (
      !this.#settingsSeen && (frame.type !== FrameType.settings || (frame.flags & Flag.ack) !== 0)
    ) {
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
        return this.#guard.controlFrame();
    }
  }

  #data(frame: Frame): void {
    if (frame.streamId === 0) throw protocolError("DATA belongs to a stream");
    const { start, end } = unpad(frame, 0);
    this.#guard.dataFrame();
    const endStream = (frame.flags & Flag.endStream) !== 0;
    this.#streams.data(
      frame.streamId,
      endStream,
      frame.bytes.subarray(start, end),
      frame.end - frame.start,
    );
  }

  #headers(frame: Frame): void {
    const { streamId: id } = frame;
    if (id === 0 || id % 2 === 0) throw protocolError(`A client cannot open stream ${id}`);
    const hasPriority = (frame.flags & Flag.priority) !== 0;
    const { start, end } = unpad(frame, hasPriority ? 5 : 0);
    const endStream = (frame.flags & Flag.endStream) !== 0;
    if ((frame.flags & Flag.endHeaders) !== 0) {
      checkBlockBytes(end - start, this.#budgets);
      // Decoded whatever the stream's state is, because it changes the decoder's table.
      return this.#streams.headers(id, endStream, this.#decoder.decode(frame.bytes, start, end));
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
    this.#streams.headers(
      block.streamId,
      block.endStream,
      this.#decoder.decode(bytes, 0, bytes.length),
    );
  }

  #priority(frame: Frame): void {
    if (frame.streamId === 0) throw protocolError("PRIORITY belongs to a stream");
    this.#guard.controlFrame();
    if (frame.end - frame.start === 5) return;
    if (!this.#streams.resetOpen(frame.streamId, ErrorCode.frameSizeError)) {
      throw frameSizeError("PRIORITY");
    }
  }

  #rstStream(frame: Frame): void {
    if (frame.streamId === 0) throw protocolError("RST_STREAM belongs to a stream");
    if (frame.end - frame.start !== 4) throw frameSizeError("RST_STREAM");
    this.#streams.rstStream(frame.streamId, readUint32(frame.bytes, frame.start));
  }

  #settings(frame: Frame): void {
    const length = frame.end - frame.start;
    if (frame.streamId !== 0) throw protocolError("SETTINGS belongs to the connection");
    if ((frame.flags & Flag.ack) !== 0) {
      if (length !== 0) throw frameSizeError("SETTINGS");
      this.#settingsAcked = true;
      return this.#guard.controlFrame();
    }
    if (length % settingBytes !== 0) throw frameSizeError("SETTINGS");
    this.#guard.controlFrame(1 + length / settingBytes / 8);
    this.#settingsSeen = true;
    readSettings(frame, (id, value) => this.#apply(id, value));
    this.#writer.settingsAck();
  }

  #apply(id: number, value: number): void {
    const { sender } = this.#streams;
    if (id === Setting.headerTableSize) this.#encoder.setTableBytes(value);
    else if (id === Setting.maxFrameSize) {
      sender.maxFrameBytes = Math.min(value, largestSentFrameBytes);
    } else if (id === Setting.initialWindowSize) this.#streams.setInitialWindow(value);
  }

  #ping(frame: Frame): void {
    if (frame.streamId !== 0) throw protocolError("PING belongs to the connection");
    if (frame.end - frame.start !== 8) throw frameSizeError("PING");
    this.#guard.controlFrame();
    const payload = frame.bytes.subarray(frame.start, frame.end);
    if ((frame.flags & Flag.ack) === 0) this.#writer.ping(true, payload);
    else if (
      this.#shutdown === "announced" && shutdownPing.every((byte, i) => byte === payload[i])
    ) {
      this.#finalGoaway();
    }
  }

  /**
   * The client opens no more streams that matter to us; those that are open are served to their
   * end.
   */
  #goaway(frame: Frame): void {
    if (frame.streamId !== 0) throw protocolError("GOAWAY belongs to the connection");
    if (frame.end - frame.start < 8) throw frameSizeError("GOAWAY");
    this.#guard.controlFrame();
    this.shutdown();
  }

  #windowUpdate(frame: Frame): void {
    if (frame.end - frame.start !== 4) throw frameSizeError("WINDOW_UPDATE");
    const increment = readUint31(frame.bytes, frame.start);
    this.#guard.controlFrame();
    if (frame.streamId !== 0) return this.#streams.windowUpdate(frame.streamId, increment);
    if (increment === 0) throw protocolError("A window must grow by at least one byte");
    if (!this.#streams.sender.growWindow(increment)) {
      throw new ConnectionError(
        ErrorCode.flowControlError,
        "The connection's window exceeds 2^31-1",
      );
    }
  }

  // Ends

  #continueShutdown(nowMs: number): void {
    const elapsedMs = nowMs - this.#shutdownAtMs;
    // A peer that does not answer the PING has had a second of round trip.
    if (this.#shutdown === "announced" && elapsedMs >= 1_000) this.#finalGoaway();
    if (elapsedMs >= this.#budgets.drainTimeoutMs) this.#streams.resetAll(ErrorCode.cancel);
  }

  #finalGoaway(): void {
    this.#shutdown = "final";
    this.#streams.refuseNew();
    this.#writer.goaway(this.#streams.last, ErrorCode.noError, "");
    if (this.#streams.size === 0) this.#end();
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    const known = error instanceof ConnectionError;
    if (!known) this.#deps.onFault(error);
    const code = known ? error.code : ErrorCode.internalError;
    this.#writer.goaway(this.#streams.last, code, known ? error.message : "");
    this.#end();
    this.#streams.abortAll(`The connection was closed (${errorCodeName(code)})`);
  }

  #end(): void {
    this.#over = true;
    this.#reader.stop();
    this.#outbox.end();
  }
}

function protocolError(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.protocolError, message);
}

function frameSizeError(what: string): ConnectionError {
  return new ConnectionError(
    ErrorCode.frameSizeError,
    `${what} has a length that its type does not allow`,
  );
}
