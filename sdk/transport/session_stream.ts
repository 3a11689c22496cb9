/**
 * The gRPC stream `Session`, the only stream of an HTTP/2 connection of its own (RFC 9113, client
 * side). It owns no socket and no timer: bytes and the end of the socket are told to it. A relay
 * that breaks a rule loses the connection.
 */
import {
  clientPreface,
  ConnectionError,
  defaultMaxFrameBytes,
  defaultWindowBytes,
  ErrorCode,
  errorCodeName,
  Flag,
  type Frame,
  FrameReader as Http2FrameReader,
  FrameType,
  HeaderBlock,
  HpackDecoder,
  HpackEncoder,
  largestWindowBytes,
  readSettings,
  readUint31,
  readUint32,
  Setting,
  settingBytes,
  unpad,
} from "../../proto/http2/mod.ts";
import { authorityOf } from "./authority.ts";
import { concat, decodeCell, encodeCellFrames, GrpcFrameReader } from "./frames.ts";
import { encodeData, encodeFrame, encodeSettings, uint32 } from "./http2_frames.ts";
import { busyEndOf, grpcStreamEndOf } from "./http_refusal.ts";
import { reasonOf } from "./reason.ts";
import type { CellStream, ConnectTarget, StreamEnd } from "./transport.ts";

/** A connection that speaks `h2`. */
export interface Http2Socket {
  /** Settles when the system has taken the bytes; rejects when the connection is gone. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Ends this side after what was written. */
  end(): void;
  /** Ends both sides at once. */
  destroy(): void;
}

type TimerStart = (ms: number, run: () => void) => () => void;

/** Bytes that the relay may send before they are read. */
const windowBytes = 1024 * 1024;
/** A head or trailers: a relay's error is in them. */
const headerBudgets = { headerBlockBytes: 64 * 1024, headerBlockFrames: 16 };
/**
 * The most frames under way that only answer: a relay that asks for more without reading them is
 * not served.
 */
const maxAnswersUnderWay = 1_000;
/** How long the relay gets to end its direction. */
const lingerMs = 1_500;
/** The first that a client may open. */
const streamId = 1;
const closedHere = "it was closed by this side";
/** The lengths of frames that have one length. */
const payloadBytes = new Map<number, number>([
  [FrameType.rstStream, 4],
  [FrameType.ping, 8],
  [FrameType.windowUpdate, 4],
]);

export class SessionStream implements CellStream {
  readonly #socket: Http2Socket;
  readonly #after: TimerStart;
  readonly #http2 = new Http2FrameReader((frame) => this.#frame(frame));
  readonly #decoder = new HpackDecoder(headerBudgets.headerBlockBytes);
  readonly #frames = new GrpcFrameReader();
  /** Bytes that the relay takes, on the connection and on the stream. */
  #connectionWindow = defaultWindowBytes;
  #streamWindow = defaultWindowBytes;
  #initialWindow = defaultWindowBytes;
  #maxFrameBytes = defaultMaxFrameBytes;
  #answersUnderWay = 0;
  #headerBlock: HeaderBlock | undefined;
  #isAnswered = false;
  /**
   * Cells that have arrived and were not read, and the bytes for which the relay has no window
   * again.
   */
  #cells: Uint8Array[] = [];
  #takenBytes = 0;
  /** The relay sends no more cells. */
  #isDry = false;
  #isFinished = false;
  #end: StreamEnd | undefined;
  #settle: (end: StreamEnd) => void = () => {};
  /** Callers that wait for a change: a reader, a writer. */
  #waiting: (() => void)[] = [];
  /** Settles with the last write. */
  #sent: Promise<void> = Promise.resolve();
  #cancelLinger: (() => void) | undefined;
  readonly closed: Promise<StreamEnd>;

  constructor(
    socket: Http2Socket,
    target: Pick<ConnectTarget, "host" | "port">,
    after: TimerStart,
  ) {
    this.#socket = socket;
    this.#after = after;
    this.closed = new Promise((resolve) => this.#settle = resolve);
    const head = new HpackEncoder().encode([["content-type", "application/grpc"], [
      "te",
      "trailers",
    ]], [
      [":method", "POST"],
      [":scheme", "https"],
      [":authority", authorityOf(target)],
      [":path", "/static.relay.v1.Relay/Session"],
    ]);
    this.#answer(concat([
      clientPreface,
      encodeSettings([[Setting.enablePush, 0], [Setting.initialWindowSize, windowBytes]]),
      encodeFrame(FrameType.windowUpdate, 0, 0, uint32(windowBytes - defaultWindowBytes)),
      encodeFrame(FrameType.headers, Flag.endHeaders, streamId, head),
    ]));
  }

  // Told by the socket's owner

  receive(chunk: Uint8Array): void {
    if (this.#isDry) return;
    try {
      this.#http2.receive(chunk);
    } catch (error) {
      this.#break(error);
    }
  }

  /** The socket is gone. */
  lost(reason = "the connection was cut off"): void {
    this.#dry({ message: reason });
    this.#destroy();
  }

  // The session

  async read(): Promise<Uint8Array | undefined> {
    while (this.#cells.length === 0) {
      if (this.#isDry) {
        this.#finish();
        return undefined;
      }
      await this.#change();
    }
    const cells = this.#cells;
    this.#cells = [];
    if (this.#takenBytes >= windowBytes / 2) this.#giveWindow();
    return cells.length === 1 ? cells[0] : concat(cells);
  }

  write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void> {
    if (this.#isFinished) return Promise.reject(new Error(this.#end?.message ?? closedHere));
    const writing = this.#write(encodeCellFrames(cells, cellBytes));
    this.#sent = writing.catch(() => {});
    return writing;
  }

  async #write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      if (this.#end !== undefined) throw new Error(this.#end.message);
      const room = Math.min(this.#connectionWindow, this.#streamWindow, bytes.length - at);
      if (room <= 0) {
        await this.#change();
        continue;
      }
      this.#connectionWindow -= room;
      this.#streamWindow -= room;
      const frames = encodeData(streamId, bytes.subarray(at, at += room), this.#maxFrameBytes);
      await this.#socket.write(frames).catch((error) => {
        this.lost(reasonOf(error));
        throw error;
      });
    }
  }

  /** gRPC has no close codes of ours: whatever must be said was said in cells. */
  close(closeCode: number): void {
    this.#settle({ message: closedHere });
    if (closeCode === 0) this.#finish();
    else this.#destroy();
  }

  // Incoming frames

  #frame(frame: Frame): void {
    if (this.#headerBlock !== undefined && frame.type !== FrameType.continuation) {
      throw broken("a header block must be continued before any other frame");
    }
    const [length, asked] = [frame.end - frame.start, payloadBytes.get(frame.type)];
    if (asked !== undefined && asked !== length) throw frameSizeError();
    switch (frame.type) {
      case FrameType.data:
        return this.#data(frame);
      case FrameType.headers:
        return this.#headers(frame);
      case FrameType.continuation:
        return this.#continuation(frame);
      case FrameType.rstStream:
        if (frame.streamId !== streamId) throw broken("a stream that was not opened is reset");
        return this.#dry({ message: `the relay reset the stream (${codeAt(frame, 0)})` });
      case FrameType.settings:
        return this.#settings(frame);
      case FrameType.pushPromise:
        throw broken("pushes were declined");
      case FrameType.ping:
        if ((frame.flags & Flag.ack) !== 0) return;
        return this.#answer(
          encodeFrame(FrameType.ping, Flag.ack, 0, frame.bytes.subarray(frame.start, frame.end)),
        );
      case FrameType.goaway:
        // A stream that the relay still serves goes on to its end.
        if (readUint31(frame.bytes, frame.start) >= streamId) return;
        return this.#dry({ message: `the relay does not serve this stream (${codeAt(frame, 4)})` });
      case FrameType.windowUpdate:
        return this.#windowUpdate(frame);
      default: // Priorities, and types that nobody knows (§4.1).
        return;
    }
  }

  #data(frame: Frame): void {
    if (frame.streamId !== streamId || !this.#isAnswered) {
      throw broken("data that nobody has asked for");
    }
    const { start, end } = unpad(frame, 0);
    this.#takenBytes += frame.end - frame.start;
    if (this.#takenBytes > windowBytes) {
      throw new ConnectionError(ErrorCode.flowControlError, "more than its window");
    }
    this.#frames.read(frame.bytes.subarray(start, end), (flags, message) => {
      if (flags !== 0) throw new Error("compressed cells were not asked for");
      this.#cells.push(decodeCell(message).slice());
    });
    if ((frame.flags & Flag.endStream) !== 0) this.#dry({ message: "the relay ended the stream" });
    this.#wake();
  }

  #headers(frame: Frame): void {
    if (frame.streamId !== streamId) throw broken("an answer to a stream that was not opened");
    const { start, end } = unpad(frame, (frame.flags & Flag.priority) !== 0 ? 5 : 0);
    const endStream = (frame.flags & Flag.endStream) !== 0;
    this.#headerBlock = new HeaderBlock({ id: streamId, endStream }, headerBudgets);
    this.#gather(this.#headerBlock, frame, { start, end });
  }

  #continuation(frame: Frame): void {
    if (this.#headerBlock === undefined || frame.streamId !== streamId) {
      throw broken("nothing to continue");
    }
    this.#gather(this.#headerBlock, frame, frame);
  }

  #gather(
    block: HeaderBlock,
    { bytes, flags }: Frame,
    { start, end }: { start: number; end: number },
  ): void {
    block.add(bytes, start, end);
    if ((flags & Flag.endHeaders) === 0) return;
    this.#headerBlock = undefined;
    const joined = block.join();
    const { fields } = this.#decoder.decode(joined, 0, joined.length);
    const values = new Map(fields.map(({ name, value }) => [name, value]));
    if (!this.#isAnswered) this.#answered(values);
    if (block.endStream) this.#ended(values);
  }

  #answered(head: ReadonlyMap<string, string>): void {
    const status = Number(head.get(":status"));
    if (status >= 100 && status < 200) return;
    this.#isAnswered = true;
    if (status === 200) return;
    const message = `The relay returned HTTP status ${status} for Session`;
    this.#dry(busyEndOf(status, head.get("retry-after"), { message }));
  }

  #ended(trailers: ReadonlyMap<string, string>): void {
    const text = decodeText(trailers.get("grpc-message") || "the relay ended the stream");
    const isOrdinary = trailers.get("grpc-status") === "0";
    this.#dry(
      isOrdinary
        ? { message: "the relay ended the stream" }
        : grpcStreamEndOf(trailers.get("grpc-status-details-bin") ?? "", text),
    );
  }

  #settings(frame: Frame): void {
    if ((frame.end - frame.start) % settingBytes !== 0) throw frameSizeError();
    if ((frame.flags & Flag.ack) !== 0) return;
    readSettings(frame, (id, value) => {
      if (id === Setting.maxFrameSize) this.#maxFrameBytes = value;
      if (id !== Setting.initialWindowSize) return;
      this.#streamWindow += value - this.#initialWindow;
      this.#initialWindow = value;
    });
    this.#answer(encodeFrame(FrameType.settings, Flag.ack, 0));
    this.#wake();
  }

  #windowUpdate(frame: Frame): void {
    const increment = readUint31(frame.bytes, frame.start);
    if (frame.streamId === 0) this.#connectionWindow += increment;
    else this.#streamWindow += increment;
    if (
      increment === 0 || Math.max(this.#connectionWindow, this.#streamWindow) > largestWindowBytes
    ) {
      throw new ConnectionError(
        ErrorCode.flowControlError,
        "a window of a size that it cannot have",
      );
    }
    this.#wake();
  }

  // Ends

  #giveWindow(): void {
    const increment = uint32(this.#takenBytes);
    this.#takenBytes = 0;
    const both = [0, streamId].map((id) => encodeFrame(FrameType.windowUpdate, 0, id, increment));
    this.#answer(concat(both));
  }

  /** Nobody waits for it; an error of the socket is told by its owner. */
  #answer(frames: Uint8Array<ArrayBuffer>): void {
    if (++this.#answersUnderWay > maxAnswersUnderWay) throw broken("it reads no answers");
    this.#socket.write(frames).then(() => this.#answersUnderWay--, () => {});
  }

  #break(error: unknown): void {
    const code = error instanceof ConnectionError ? error.code : ErrorCode.protocolError;
    const goodbye = encodeFrame(FrameType.goaway, 0, 0, concat([uint32(0), uint32(code)]));
    this.#socket.write(goodbye).catch(() => {});
    // Nothing follows it.
    this.#isFinished = true;
    this.#dry({ message: `the relay broke HTTP/2: ${reasonOf(error)}` });
  }

  /** Cells that have arrived are still read. */
  #dry(end: StreamEnd): void {
    this.#isDry = true;
    this.#end ??= end;
    this.#settle(this.#end);
    this.#wake();
    this.#finish();
  }

  /**
   * Says that nothing more will be written, and closes when the relay has done so too, or had its
   * time.
   */
  #finish(): void {
    if (!this.#isFinished) {
      this.#isFinished = true;
      this.#sent = this.#sent.then(() =>
        this.#socket.write(encodeFrame(FrameType.data, Flag.endStream, streamId))
      )
        .catch(() => {});
    }
    this.#cancelLinger ??= this.#after(lingerMs, () => this.#destroy());
    if (this.#isDry) void this.#sent.then(() => this.#socket.end());
  }

  #destroy(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = () => {};
    this.#isFinished = true;
    this.#isDry = true;
    this.#end ??= { message: closedHere };
    this.#wake();
    this.#socket.destroy();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

function codeAt({ bytes, start }: Frame, offset: number): string {
  return errorCodeName(readUint32(bytes, start + offset));
}

function broken(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.protocolError, what);
}

function frameSizeError(): ConnectionError {
  return new ConnectionError(
    ErrorCode.frameSizeError,
    "a frame has a length that its type does not allow",
  );
}

/** gRPC's texts are percent-encoded. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text).slice(0, 1024);
  } catch {
    return text.slice(0, 1024);
  }
}
