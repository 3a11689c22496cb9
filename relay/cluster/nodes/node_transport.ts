/**
 * The way to a node for NATS' client: a TCP socket, with TLS where the node or the relay asks for
 * it. It stands in the place of the client's own transport for Node, whose sockets are without an
 * owner between two of their states, whose last flush over TLS never ends, and which leaves sockets
 * open when a step takes too long or a node ends the connection. Here a socket has an owner from
 * its first moment to its last, and the first thing that fails ends all of it, at once and without
 * a flush: a relay writes every entry again that was not answered. Node's sockets and not Deno's,
 * which stay open when they are closed in the middle of a handshake.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { ConnectionOptions, Server, ServerInfo } from "@nats-io/nats-core";
import {
  checkOptions,
  extractProtocolMessage,
  INFO,
  type Transport,
} from "@nats-io/nats-core/internal";
import { version } from "../../../proto/mod.ts";

/** More than the first line of a node, which names its neighbours. */
const maxInfoBytes = 64 * 1024;

export class NodeTransport implements Transport {
  readonly lang = "static-relay";
  readonly version = version;
  closeError?: Error;
  isClosed = false;
  readonly #closed = Promise.withResolvers<void>();
  /** Rejects at the end, for steps that are under way then. */
  readonly #ended = Promise.withResolvers<never>();
  /** The TCP socket, and the one of TLS above it. */
  readonly #sockets: Socket[] = [];
  #isEncrypted = false;
  /** The client was told that it has this connection, and waits to hear of its end. */
  #isHeld = false;
  #chunks: Uint8Array[] = [];
  #arrived = Promise.withResolvers<void>();

  constructor() {
    this.#ended.promise.catch(() => {});
  }

  /**
   * Has no limit of its own: the client calls `close` when it takes too long (`timeout`), which
   * ends each step.
   */
  async connect(server: Server, options: ConnectionOptions): Promise<void> {
    try {
      await Promise.race([this.#connect(server, options), this.#ended.promise]);
      // The connection may have ended since the race was over.
      if (this.closeError !== undefined) throw this.closeError;
      this.#isHeld = true;
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  async #connect({ hostname, port, tlsName }: Server, options: ConnectionOptions): Promise<void> {
    const plain = this.#own(connectTcp({ host: hostname, port, noDelay: true }));
    plain.on("data", this.#take);
    const { info, line } = await this.#readInfo();
    checkOptions(info, options);
    const { tls } = options;
    if (!info.tls_required && !(info.tls_available && tls)) return;
    plain.off("data", this.#take);
    // Words that came behind it, in plain text, must not pass for words that came through TLS.
    this.#chunks = [new TextEncoder().encode(line)];
    const ca = tls?.ca;
    const name = tlsName || hostname;
    // The certificate must be for it. An address is not told to the node in the handshake.
    const identity = isIP(name) === 0 ? { servername: name } : { host: name };
    const encrypted = this.#own(connectTls({ socket: plain, ...identity, ca }));
    await this.#untilSecure(encrypted);
    encrypted.on("data", this.#take);
    this.#isEncrypted = true;
  }

  /**
   * Whatever becomes of it ends this transport. Its listeners stay for good: an error may come
   * after the end.
   */
  #own<Owned extends Socket>(socket: Owned): Owned {
    this.#sockets.push(socket);
    socket.on("error", (error) => this.#finish(error));
    socket.on("end", () => this.#finish());
    socket.on("close", () => this.#finish());
    if (this.isClosed) socket.destroy();
    return socket;
  }

  readonly #take = (bytes: Uint8Array): void => {
    this.#chunks.push(bytes);
    this.#arrived.resolve();
  };

  /** The first line of a node, before TLS. The client reads it again. */
  async #readInfo(): Promise<{ readonly info: ServerInfo; readonly line: string }> {
    for (;;) {
      await this.#arrived.promise;
      this.#arrived = Promise.withResolvers();
      const read = join(this.#chunks);
      const line = extractProtocolMessage(read);
      if (line === "" && read.length < maxInfoBytes) continue;
      const [, json] = INFO.exec(line) ?? [];
      if (json === undefined) throw new Error("The node does not speak NATS");
      return { info: JSON.parse(json), line };
    }
  }

  async #untilSecure(socket: TLSSocket): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once("secureConnect", resolve);
    await promise;
    if (!socket.authorized) throw new Error("The node's certificate is not trusted");
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    return this.#read();
  }

  /**
   * Ends the connection also when its reader stops, for example at a message that it cannot parse.
   */
  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        for (const chunk of this.#chunks.splice(0)) yield chunk;
        if (this.isClosed) return;
        await this.#arrived.promise;
        this.#arrived = Promise.withResolvers();
      }
    } finally {
      this.#finish();
    }
  }

  isEncrypted(): boolean {
    return this.#isEncrypted;
  }

  /**
   * Nobody waits for a write: the socket keeps what the node does not read, and one that reads
   * nothing is left.
   */
  send(frame: Uint8Array): void {
    if (!this.isClosed && frame.length > 0) this.#sockets.at(-1)?.write(frame);
  }

  close(error?: Error): Promise<void> {
    this.#finish(error);
    return Promise.resolve();
  }

  disconnect(): void {
    this.#finish();
  }

  /** The client wants to hear nothing more of it. */
  discard(): void {
    this.#isHeld = false;
    this.#finish();
  }

  closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Once; waits for nobody. */
  #finish(error = new Error("The node ended the connection")): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.closeError = error;
    this.#ended.reject(error);
    for (const socket of this.#sockets) socket.destroy();
    this.#arrived.resolve();
    if (this.#isHeld) this.#closed.resolve();
  }
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
