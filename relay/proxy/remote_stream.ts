/** One QUIC connection to a remote relay with its one stream: bytes both ways, and why it ended. */
import { errorCodeOfClose } from "../../proto/mod.ts";
import type { EndReason } from "../core/client_link.ts";
import { quicOptions } from "../listeners/quic_options.ts";

export interface RemoteRelay {
  readonly hostname: string;
  readonly port: number;
  /** PEM, trusted beside the system's own. */
  readonly caCerts: readonly string[];
}

export interface RemoteEvents {
  /** Bytes of the relay. When it returns a promise, nothing more is read until it resolves. */
  receive(chunk: Uint8Array): Promise<void> | undefined;
  /** Called once, unless `close` was called first. */
  ended(reason: EndReason | undefined): void;
}

/** Time that the relay gets to close the connection after its stream has ended. */
const closeMs = 3_000;
const transportOptions = { alpnProtocols: ["static-relay/1"], ...quicOptions };

export class ProxiedStream {
  readonly #events: RemoteEvents;
  readonly #opened = Promise.withResolvers<WritableStreamDefaultWriter<Uint8Array>>();
  #conn: Deno.QuicConn | undefined;
  #open = true;

  constructor(relay: RemoteRelay, events: RemoteEvents) {
    this.#events = events;
    this.#opened.promise.catch(() => {});
    void this.#run(relay);
  }

  /** Resolves when the transport has taken the bytes; rejects when it cannot. */
  async write(bytes: Uint8Array): Promise<void> {
    await (await this.#opened.promise).write(bytes);
  }

  /** We send nothing more; what the relay still sends is passed on. */
  finish(): void {
    this.#opened.promise.then((writer) => writer.close()).catch(() => {});
  }

  close(): void {
    this.#open = false;
    this.#opened.reject(new Error("The stream to the relay was closed before it was open"));
    this.#conn?.close({ closeCode: 0, reason: "" });
  }

  async #run({ hostname, port, caCerts }: RemoteRelay): Promise<void> {
    try {
      // limit: maxIdleTimeout of quicOptions
      const conn = await Deno.connectQuic<false>({
        hostname,
        port,
        caCerts: [...caCerts],
        ...transportOptions,
      });
      this.#conn = conn;
      conn.closed.catch(() => {});
      if (!this.#open) return conn.close({ closeCode: 0, reason: "" });
      const stream = await conn.createBidirectionalStream();
      const writer = stream.writable.getWriter();
      writer.closed.catch(() => {});
      this.#opened.resolve(writer);
      await this.#read(stream.readable, conn);
      // The relay waits for this before it says why.
      await writer.close().catch(() => {});
    } catch (error) {
      this.#opened.reject(error);
    }
    this.#end(await this.#reason());
  }

  /** A relay that ends the connection is not kept waiting for room that may never come. */
  async #read(readable: ReadableStream<Uint8Array>, conn: Deno.QuicConn): Promise<void> {
    const closed = conn.closed.then(() => {}, () => {});
    for await (const chunk of readable) {
      const busy = this.#open ? this.#events.receive(chunk) : undefined;
      if (busy !== undefined) await Promise.race([busy, closed]);
    }
  }

  async #reason(): Promise<EndReason | undefined> {
    if (this.#conn === undefined) {
      return { code: "connection_error", message: "The proxy cannot reach the relay" };
    }
    const lost: EndReason = {
      code: "transport_error",
      message: "The proxy lost its connection to the relay",
    };
    // A relay that is done closes the connection; one that only lost our stream is not waited for.
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), closeMs);
    const info = await Promise.race([this.#conn.closed.catch(() => undefined), late.promise]);
    clearTimeout(timer);
    this.#conn.close({ closeCode: 0, reason: "" });
    if (info === undefined) return lost;
    if (info.closeCode === 0) return undefined;
    const code = errorCodeOfClose(info.closeCode);
    return code === undefined ? lost : { code, message: `The relay ended the session: ${code}` };
  }

  #end(reason: EndReason | undefined): void {
    if (!this.#open) return;
    this.#open = false;
    this.#events.ended(reason);
  }
}
