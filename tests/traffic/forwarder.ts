/**
 * Stands between one client and the relay and notes what passes, for machines without Wireshark:
 * datagrams, or records of TLS, as an observer sees them.
 */
import type { Seen } from "./observation.ts";
import { TlsRecords } from "./tls_records.ts";

export interface Forwarder {
  /** Where the client connects to be seen. */
  readonly port: number;
  /** From now on everything goes to this port of the relay. */
  connectTo(port: number): void;
  /** Everything seen, in order. */
  stop(): readonly Seen[];
}

const host = "127.0.0.1";

export function forwardDatagrams(): Forwarder {
  const seen: Seen[] = [];
  const socket = Deno.listenDatagram({ transport: "udp", hostname: host, port: 0 });
  const upstream = Deno.listenDatagram({ transport: "udp", hostname: host, port: 0 });
  let relayPort = 0;
  let client: Deno.Addr | undefined;
  const note = (fromClient: boolean, datagram: Uint8Array): void => {
    seen.push({ atMs: exactNow(), fromClient, datagram: datagram.slice() });
  };
  const answers = async (): Promise<void> => {
    for await (const [datagram] of upstream) {
      note(false, datagram);
      if (client !== undefined) await socket.send(datagram, client).catch(() => 0);
    }
  };
  const run = async (): Promise<void> => {
    for await (const [datagram, address] of socket) {
      client = address;
      note(true, datagram);
      await upstream.send(datagram, { transport: "udp", hostname: host, port: relayPort }).catch(
        () => 0,
      );
    }
  };
  for (const loop of [answers(), run()]) void loop.catch(() => {});
  return {
    port: (socket.addr as Deno.NetAddr).port,
    connectTo: (port) => void (relayPort = port),
    stop: () => {
      for (const open of [socket, upstream]) open.close();
      return seen;
    },
  };
}

export function forwardRecords(): Forwarder {
  const seen: Seen[] = [];
  const listener = Deno.listen({ hostname: host, port: 0 });
  const open = new Set<Deno.Conn>();
  let relayPort = 0;
  const pass = async (from: Deno.Conn, to: Deno.Conn, fromClient: boolean): Promise<void> => {
    const records = new TlsRecords((recordBytes) =>
      seen.push({ atMs: exactNow(), fromClient, recordBytes })
    );
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
      for (const conn of [client, relay]) {
        conn.setNoDelay(true);
        open.add(conn);
      }
      void pass(client, relay, true).catch(() => {});
      void pass(relay, client, false).catch(() => {});
    }
  };
  void run().catch(() => {});
  return {
    port: (listener.addr as Deno.NetAddr).port,
    connectTo: (port) => void (relayPort = port),
    stop: () => {
      listener.close();
      for (const conn of open) closeQuietly(conn);
      return seen;
    },
  };
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
