/**
 * The gRPC stream `Session` on Node's own HTTP/2. Written on `node:http2` directly: gRPC of one stream is a five-byte prefix
 * and two headers. Never loaded in Deno, whose `node:http2` can abort the process.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import type { TLSSocket } from "node:tls";
import { authorityOf } from "../transport/authority.ts";
import { busyEndOf, grpcStreamEndOf } from "../transport/http_refusal.ts";
import { concat, decodeCell, encodeCellFrames, FrameReader } from "../transport/frames.ts";
import { reasonOf } from "../transport/reason.ts";
import type { CellStream, Connector, StreamEnd, Target } from "../transport/transport.ts";
import { connectTls } from "./node_tls.ts";
import { after } from "./timers.ts";

/** Bytes that the relay may send before they are read. */
const windowBytes = 1024 * 1024;
/** How long the relay gets to end its direction. */
const lingerMs = 1_500;

export const grpc: Connector = {
  transport: "grpc",
  carrier: "tcp",
  unusable: () => undefined,
  connect: async (target, signal) => new SessionStream(await connectTls(target, "h2", signal), target),
};

class SessionStream implements CellStream {
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #frames = new FrameReader();
  #end: StreamEnd | undefined;
  #settle: (end: StreamEnd) => void = () => {};
  #cancelLinger: (() => void) | undefined;
  readonly closed: Promise<StreamEnd>;

  constructor(socket: TLSSocket, target: Target) {
    const authority = authorityOf(target);
    this.closed = new Promise((resolve) => this.#settle = resolve);
    this.#session = connectHttp2(`https://${authority}`, {
      createConnection: () => socket,
      settings: { initialWindowSize: windowBytes, enablePush: false },
    });
    this.#session.once("connect", () => this.#session.setLocalWindowSize(windowBytes));
    this.#session.on("error", (error) => this.#gone({ message: reasonOf(error) }));
    this.#session.on("goaway", () => this.#session.close());
    this.#stream = this.#session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      // Of itself, Node sends an address of IPv6 without its brackets.
      [constants.HTTP2_HEADER_AUTHORITY]: authority,
      [constants.HTTP2_HEADER_PATH]: "/static.relay.v1.Relay/Session",
      [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
      [constants.HTTP2_HEADER_TE]: "trailers",
    });
    this.#stream.on("error", (error) => this.#gone({ message: reasonOf(error) }));
    this.#stream.on("response", (headers) => this.#answered(headers));
    this.#stream.on("trailers", (trailers) => this.#ended(trailers));
    this.#stream.on("close", () => {
      this.#gone({ message: "the connection was cut off" });
      this.#destroy();
    });
    this.#chunks = this.#stream[Symbol.asyncIterator]();
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      for (;;) {
        const { done, value } = await this.#chunks.next();
        if (done) break;
        const cells: Uint8Array[] = [];
        this.#frames.read(value, (flags, message) => {
          if (flags !== 0) throw new Error("compressed cells were not asked for");
          cells.push(decodeCell(message).slice());
        });
        if (cells.length > 0) return concat(cells);
      }
    } catch (error) {
      this.#gone({ message: reasonOf(error) });
    }
    this.#finish();
    return undefined;
  }

  write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(new Error(this.#end.message));
      this.#stream.write(encodeCellFrames(cells, cellBytes), (error) => {
        if (!error) return resolve();
        this.#gone({ message: reasonOf(error) });
        reject(error);
      });
    });
  }

  /** gRPC has no close codes of ours: whatever must be said was said in cells. */
  close(closeCode: number): void {
    this.#settle({ message: "it was closed by this side" });
    if (closeCode === 0) this.#finish();
    else this.#destroy();
  }

  /** Says that nothing more will be written, and closes when the relay has done so too, or had its time. */
  #finish(): void {
    this.#stream.end();
    this.#cancelLinger ??= after(lingerMs, () => this.#destroy());
  }

  #answered(headers: Readonly<Record<string, unknown>>): void {
    const status = headers[constants.HTTP2_HEADER_STATUS];
    if (status !== 200) {
      const message = `The relay returned HTTP status ${String(status)} for Session`;
      return this.#gone(busyEndOf(status, headers["retry-after"], { message }));
    }
    if (headers["grpc-status"] !== undefined) this.#ended(headers);
  }

  #ended(trailers: Readonly<Record<string, unknown>>): void {
    const { "grpc-status": status, "grpc-message": message, "grpc-status-details-bin": details } = trailers;
    const text = typeof message === "string" && message !== "" ? decodeText(message) : "the relay ended the stream";
    if (status === "0") return this.#gone({ message: "the relay ended the stream" });
    this.#gone(grpcStreamEndOf(typeof details === "string" ? details : "", text));
  }

  #gone(end: StreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#settle(end);
    // Bytes that have arrived are still read.
    this.#finish();
  }

  #destroy(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = () => {};
    this.#end ??= { message: "it was closed by this side" };
    this.#stream.destroy();
    this.#session.destroy();
  }
}

/** gRPC's texts are percent-encoded. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text).slice(0, 1024);
  } catch {
    return text.slice(0, 1024);
  }
}
