/**
 * Stands between clients and the relay and notes what passes, for machines without Wireshark: datagrams, or records of TLS,
 * as an observer sees them. What of a QUIC datagram is stream and what is QUIC's own cannot be told here: a datagram above the
 * size of acknowledgements counts as stream, less the overhead that QUIC has for a cell.
 */
import { type Capture, type Observation, streamBytesOfRecord, type WireTransport } from "./observation.ts";

export interface Forwarder extends Capture {
  /** From now on everything goes to this port of the relay. */
  connectTo(port: number): void;
}

const host = "127.0.0.1";
const controlBytes = 100;

export function startForwarder(transport: WireTransport): Forwarder {
  return transport === "quic" ? forwardDatagrams() : forwardRecords();
}

function forwardDatagrams(): Forwarder {
  const observations: Observation[] = [];
  const socket = Deno.listenDatagram({ transport: "udp", hostname: host, port: 0 });
  const upstreams = new Map<number, Deno.DatagramConn>();
  let relayPort = 0;
  const note = (session: number, fromClient: boolean, wireBytes: number): void => {
    const streamBytes = wireBytes < controlBytes ? 0 : wireBytes;
    observations.push({ atMs: exactNow(), session, fromClient, wireBytes, streamBytes });
  };
  const answers = async (upstream: Deno.DatagramConn, client: Deno.NetAddr): Promise<void> => {
    for await (const [datagram] of upstream) {
      note(client.port, false, datagram.length);
      await socket.send(datagram, client).catch(() => 0);
    }
  };
  const run = async (): Promise<void> => {
    for await (const [datagram, address] of socket) {
      if (address.transport !== "udp") continue;
      let upstream = upstreams.get(address.port);
      if (upstream === undefined) {
        upstream = Deno.listenDatagram({ transport: "udp", hostname: host, port: 0 });
        upstreams.set(address.port, upstream);
        void answers(upstream, address).catch(() => {});
      }
      note(address.port, true, datagram.length);
      await upstream.send(datagram, { transport: "udp", hostname: host, port: relayPort }).catch(() => 0);
    }
  };
  void run().catch(() => {});
  return {
    port: (socket.addr as Deno.NetAddr).port,
    connectTo: (port) => void (relayPort = port),
    stop: () => {
      socket.close();
      for (const upstream of upstreams.values()) upstream.close();
      return Promise.resolve(observations);
    },
  };
}

function forwardRecords(): Forwarder {
  const observations: Observation[] = [];
  const listener = Deno.listen({ hostname: host, port: 0 });
  const open = new Set<Deno.Conn>();
  let relayPort = 0;
  const pass = async (from: Deno.Conn, to: Deno.Conn, session: number, fromClient: boolean): Promise<void> => {
    const records = new RecordReader((wireBytes) => {
      const streamBytes = streamBytesOfRecord(wireBytes);
      observations.push({ atMs: exactNow(), session, fromClient, wireBytes, streamBytes });
    });
    const watch = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        records.read(chunk);
        controller.enqueue(chunk);
      },
    });
    await from.readable.pipeThrough(watch).pipeTo(to.writable);
  };
  const run = async (): Promise<void> => {
    for await (const client of listener) {
      const relay = await Deno.connect({ hostname: host, port: relayPort });
      const { port } = client.remoteAddr as Deno.NetAddr;
      for (const conn of [client, relay]) open.add(conn);
      void pass(client, relay, port, true).catch(() => {});
      void pass(relay, client, port, false).catch(() => {});
    }
  };
  void run().catch(() => {});
  return {
    port: (listener.addr as Deno.NetAddr).port,
    connectTo: (port) => void (relayPort = port),
    stop: () => {
      listener.close();
      for (const conn of open) closeQuietly(conn);
      return Promise.resolve(observations);
    },
  };
}

/** Lengths of TLS records in a byte stream. */
class RecordReader {
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
      if (this.#head.length < 5) continue;
      this.#left = (this.#head[3] ?? 0) * 256 + (this.#head[4] ?? 0);
      this.#head = [];
      this.#onRecord(this.#left);
    }
  }
}

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // The pipe has closed it.
  }
}

function exactNow(): number {
  return performance.timeOrigin + performance.now();
}
