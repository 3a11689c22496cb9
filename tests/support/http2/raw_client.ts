/** A TLS socket that speaks HTTP/2 frames, well or badly, against a real server. */
import {
  describe,
  headers,
  parseFrames,
  postBlock,
  preface,
  settings,
  settingsAck,
  type WireFrame,
} from "./wire.ts";

export class RawClient implements Disposable {
  readonly #conn: Deno.TlsConn;
  #buffered: Uint8Array = new Uint8Array(0);
  #closed = false;

  private constructor(conn: Deno.TlsConn) {
    this.#conn = conn;
  }

  static async connect(
    server: { port: number; certificate: { cert: string } },
  ): Promise<RawClient> {
    const conn = await Deno.connectTls({
      hostname: "localhost",
      port: server.port,
      caCerts: [server.certificate.cert],
      alpnProtocols: ["h2"],
    });
    try {
      await conn.handshake();
    } catch (error) {
      conn.close();
      throw error;
    }
    return new RawClient(conn);
  }

  /** Connected and introduced. */
  static async open(server: { port: number; certificate: { cert: string } }): Promise<RawClient> {
    const client = await RawClient.connect(server);
    await client.send(preface, settings(), settingsAck);
    return client;
  }

  /** False when the server has closed its side. */
  async send(...frames: readonly Uint8Array[]): Promise<boolean> {
    try {
      for (const each of frames) {
        for (let at = 0; at < each.length;) at += await this.#conn.write(each.subarray(at));
      }
      return true;
    } catch {
      return false;
    }
  }

  /** The next frames, at least one; empty when the server closed. */
  async read(): Promise<WireFrame[]> {
    for (;;) {
      const { frames, rest } = parseFrames(this.#buffered);
      this.#buffered = rest;
      if (frames.length > 0) return frames;
      const chunk = new Uint8Array(65_536);
      const length = await this.#conn.read(chunk).catch(() => null);
      if (length === null) return [];
      this.#buffered = new Uint8Array([...this.#buffered, ...chunk.subarray(0, length)]);
    }
  }

  /** Reads until a frame described by `line` came; fails when the server closes before. */
  async until(line: string): Promise<void> {
    for (;;) {
      const frames = await this.read();
      if (frames.some((frame) => describe(frame) === line)) return;
      if (frames.length === 0) throw new Error(`the server closed before ${line}`);
    }
  }

  /** Reads until the server closes, and answers everything it said. */
  async drain(): Promise<string[]> {
    const said: string[] = [];
    for (;;) {
      const frames = await this.read();
      if (frames.length === 0) return said;
      said.push(...frames.map(describe));
    }
  }

  openStreams(ids: readonly number[], block: Uint8Array = postBlock): Promise<boolean> {
    return this.send(...ids.map((id) => headers(id, block, 4)));
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#conn.close();
  }
}
