/**
 * WebTransport over HTTP/3 for browsers: one session per connection, one stream in it. Written here
 * and not with `Deno.upgradeWebTransport`, which hides the request's origin and path, reads its
 * headers without a limit, and whose streams cannot be ended.
 */
import { errorCodes } from "../../proto/mod.ts";
import type { LinkHost } from "../cells/link_host.ts";
import type { EndReason } from "../core/client_link.ts";
import { ByteSource, Http3Error } from "./http3/byte_source.ts";
import {
  encodeCloseSession,
  encodeControlStream,
  encodeResponse,
  frameType,
  http3Code,
} from "./http3/frames.ts";
import { decodeFields, type StatusCode } from "./http3/qpack.ts";
import { carrySession, type QuicClient, readWithOneBuffer } from "./quic_stream.ts";

export interface Http3SessionOptions {
  readonly host: LinkHost;
  readonly client: QuicClient;
  readonly limits: { readonly openingMs: number };
  readonly allowsOrigin: (origin: string) => boolean;
}

/** The session's address is `https://host:port/`. */
const sessionPath = "/";
const maxHeaderBlockBytes = 16 * 1024;
/** Size limit of a stream that carries no cells: settings, a request, capsules. */
const streamBudget = 64 * 1024;
/** Time that a browser gets to notice the end before its connection closes. */
const lingerMs = 1_000;

/** Resolves or rejects when the connection ends. */
export async function serveWebTransport(
  conn: Deno.QuicConn,
  options: Http3SessionOptions,
): Promise<void> {
  const connection = new Http3Connection(conn, options);
  const cancel = options.host.after(options.limits.openingMs, () => connection.expire());
  try {
    await connection.run();
  } finally {
    cancel();
  }
}

interface ConnectStream {
  readonly id: number;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
}

class Http3Connection {
  readonly #conn: Deno.QuicConn;
  readonly #options: Http3SessionOptions;
  /** The accepted CONNECT request; streams of the session may arrive before it. */
  readonly #connect = Promise.withResolvers<ConnectStream>();
  #requested = false;
  #carrying = false;

  constructor(conn: Deno.QuicConn, options: Http3SessionOptions) {
    this.#conn = conn;
    this.#options = options;
    this.#connect.promise.catch(() => {});
  }

  async run(): Promise<void> {
    const control = (await this.#conn.createUnidirectionalStream()).getWriter();
    control.closed.catch(() => {});
    await control.write(encodeControlStream());
    const serve = (stream: Deno.QuicBidirectionalStream): Promise<void> =>
      this.#serveStream(stream);
    const discard = (stream: Deno.QuicReceiveStream): Promise<void> =>
      new ByteSource(stream, streamBudget).drain();
    await Promise.all([
      this.#each(this.#conn.incomingBidirectionalStreams, serve),
      // Settings and QPACK instructions of the peer change nothing for us.
      this.#each(this.#conn.incomingUnidirectionalStreams, discard),
    ]);
  }

  /** No session came in time. */
  expire(): void {
    if (!this.#carrying) this.#close(http3Code.noError);
  }

  async #each<Stream>(
    streams: ReadableStream<Stream>,
    serve: (stream: Stream) => Promise<void>,
  ): Promise<void> {
    for await (const stream of streams) {
      serve(stream).catch((error) => {
        // Any other failure here is a stream that its peer reset.
        if (error instanceof Http3Error) this.#close(http3Code.protocolError);
      });
    }
  }

  async #serveStream(stream: Deno.QuicBidirectionalStream): Promise<void> {
    const source = new ByteSource(stream.readable, streamBudget);
    for (;;) {
      const type = await source.integer();
      if (type === frameType.webTransportStream) {
        return await this.#serveSessionStream(stream, source);
      }
      const length = await source.integer();
      if (type === frameType.headers) return await this.#answer(stream, source, length);
      if (type === frameType.data || type === frameType.settings) {
        throw new Http3Error("A request begins with headers");
      }
      await source.skip(length);
    }
  }

  async #answer(
    stream: Deno.QuicBidirectionalStream,
    source: ByteSource,
    length: number,
  ): Promise<void> {
    if (length > maxHeaderBlockBytes) throw new Http3Error("A header block is too large");
    const status = this.#judge(decodeFields(await source.bytes(length)));
    const writer = stream.writable.getWriter();
    writer.closed.catch(() => {});
    await writer.write(encodeResponse(status));
    if (status !== 200) {
      source.cancel();
      return await writer.close();
    }
    this.#connect.resolve({ id: Number(stream.writable.id), writer });
    // Capsules tell nothing that the end of this stream does not: the session is over.
    await source.drain().catch(() => {});
    this.#close(http3Code.noError);
  }

  #judge(fields: ReadonlyMap<string, string>): StatusCode {
    const isConnect = fields.get(":method") === "CONNECT" &&
      fields.get(":protocol") === "webtransport";
    if (!isConnect || fields.get(":path") !== sessionPath) return 404;
    if (fields.get(":scheme") !== "https" || this.#requested) return 400;
    const origin = fields.get("origin");
    if (origin !== undefined && !this.#options.allowsOrigin(origin)) return 403;
    this.#requested = true;
    return 200;
  }

  async #serveSessionStream(
    stream: Deno.QuicBidirectionalStream,
    source: ByteSource,
  ): Promise<void> {
    const sessionId = await source.integer();
    const connect = await this.#connect.promise;
    if (sessionId !== connect.id || this.#carrying) {
      source.cancel();
      return await stream.writable.abort();
    }
    this.#carrying = true;
    await carrySession(this.#options.host, {
      transport: "webtransport",
      ...this.#options.client,
      next: readWithOneBuffer(stream.readable, source.release()),
      writable: stream.writable,
      close: (reason) => void this.#goodbye(connect, reason),
    });
  }

  async #goodbye({ writer }: ConnectStream, reason: EndReason | undefined): Promise<void> {
    const lingered = Promise.withResolvers<void>();
    const cancel = this.#options.host.after(lingerMs, lingered.resolve);
    const code = reason === undefined ? 0 : errorCodes[reason.code].close;
    const told = writer.write(encodeCloseSession(code, reason?.message ?? "")).then(() =>
      writer.close()
    );
    await Promise.race([told.then(() => this.#conn.closed).catch(() => {}), lingered.promise]);
    cancel();
    this.#close(http3Code.noError);
  }

  #close(closeCode: number): void {
    this.#connect.reject(new Http3Error("The connection was closed"));
    this.#conn.close({ closeCode, reason: "" });
  }
}
