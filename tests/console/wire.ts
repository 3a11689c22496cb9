/**
 * The wire between a browser and the relay: passes everything on, and counts it as an observer can
 * who has no key. Cells over HTTPS are counted by the lengths of TLS records, which are in the
 * clear; over QUIC only bytes are to be seen.
 */
import { limits } from "../../proto/mod.ts";
import type { RelayPorts } from "../support/stack.ts";

export type Side = "up" | "down";

export interface Traffic {
  /** Lengths of TLS records that are as long as a cell or longer. */
  readonly records: readonly number[];
  readonly cells: number;
  readonly datagramBytes: number;
}

interface Counted {
  records: number[];
  datagramBytes: number;
}

const headBytes = 5;
/**
 * A cell in TLS: heads of HTTP/2 (9), of the call's message (5) and of its field (3), type and tag
 * of the record (17).
 */
const sealedCellBytes = limits.cellBytes + 9 + 5 + 3 + 17;
/** A cell may be cut in two where the peer's window ends. HTTP's own records are shorter. */
const leastCellRecord = 1_000;

export class Wire implements AsyncDisposable {
  readonly #seen: Record<Side, Counted> = {
    up: { records: [], datagramBytes: 0 },
    down: { records: [], datagramBytes: 0 },
  };
  readonly #opened: { close(): void }[] = [];
  #lastMs = 0;

  /** Starts to listen, and returns its own ports. */
  between({ quicPort, grpcPort }: RelayPorts): RelayPorts {
    const listener = Deno.listen({ hostname: "::", port: 0 });
    const socket = Deno.listenDatagram({ transport: "udp", hostname: "::", port: 0 });
    this.#opened.push(listener, socket);
    void this.#acceptStreams(listener, grpcPort).catch(() => {});
    void this.#passDatagrams(socket, quicPort).catch(() => {});
    return { quicPort: portOf(socket.addr), grpcPort: portOf(listener.addr) };
  }

  traffic(side: Side): Traffic {
    const { records, datagramBytes } = this.#seen[side];
    const cells = records.reduce((sum, bytes) => sum + Math.round(bytes / sealedCellBytes), 0);
    return { records: [...records], cells, datagramBytes };
  }

  /** Milliseconds since the last cell or datagram. */
  get quietMs(): number {
    return performance.now() - this.#lastMs;
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#opened) closeQuietly(each);
    return Promise.resolve();
  }

  async #acceptStreams(listener: Deno.TcpListener, port: number): Promise<void> {
    for await (const client of listener) {
      const relay = await Deno.connect({ hostname: "localhost", port });
      for (const each of [client, relay]) each.setNoDelay(true);
      this.#opened.push(client, relay);
      void this.#passStream(client, relay, "up").catch(() => {});
      void this.#passStream(relay, client, "down").catch(() => {});
    }
  }

  async #passStream(from: Deno.Conn, to: Deno.Conn, side: Side): Promise<void> {
    const records = new RecordLengths((bytes) => {
      if (bytes < leastCellRecord) return;
      this.#lastMs = performance.now();
      this.#seen[side].records.push(bytes);
    });
    const watch = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        records.read(chunk);
        controller.enqueue(chunk);
      },
    });
    await from.readable.pipeThrough(watch).pipeTo(to.writable);
  }

  /**
   * Each connection of the browser has an address of its own, and so a socket of its own towards
   * the relay.
   */
  async #passDatagrams(socket: Deno.DatagramConn, port: number): Promise<void> {
    const upstreams = new Map<string, Deno.DatagramConn>();
    for await (const [datagram, client] of socket) {
      this.#count("up", datagram);
      const name = JSON.stringify(client);
      const upstream = upstreams.get(name) ?? this.#answerTo(client, socket);
      upstreams.set(name, upstream);
      await upstream.send(datagram, { transport: "udp", hostname: "127.0.0.1", port }).catch(() =>
        0
      );
    }
  }

  #answerTo(client: Deno.Addr, socket: Deno.DatagramConn): Deno.DatagramConn {
    const upstream = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
    this.#opened.push(upstream);
    const pass = async (): Promise<void> => {
      for await (const [datagram] of upstream) {
        this.#count("down", datagram);
        await socket.send(datagram, client).catch(() => 0);
      }
    };
    void pass().catch(() => {});
    return upstream;
  }

  #count(side: Side, datagram: Uint8Array): void {
    this.#lastMs = performance.now();
    this.#seen[side].datagramBytes += datagram.length;
  }
}

/** Reads the heads of TLS records in a stream of bytes. */
class RecordLengths {
  readonly #onRecord: (bytes: number) => void;
  #head: number[] = [];
  #left = 0;

  constructor(onRecord: (bytes: number) => void) {
    this.#onRecord = onRecord;
  }

  read(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const part = Math.min(this.#left, chunk.length - at);
        this.#left -= part;
        at += part;
        continue;
      }
      this.#head.push(chunk[at++] ?? 0);
      if (this.#head.length < headBytes) continue;
      this.#left = (this.#head[3] ?? 0) * 256 + (this.#head[4] ?? 0);
      this.#head = [];
      this.#onRecord(this.#left);
    }
  }
}

function portOf(address: Deno.Addr): number {
  return (address as Deno.NetAddr).port; // cast: both are sockets of the network
}

function closeQuietly(opened: { close(): void }): void {
  try {
    opened.close();
  } catch {
    // A pipe has closed it.
  }
}
