/**
 * HTTP in Deno, which takes certificates through a client of its own, and cells over it. HTTP/1.1, because Deno's HTTP/2 writes
 * a request in two pieces on a socket that waits with the second until the first is acknowledged: 44 ms a cell instead of 2.
 */
import { createCellsConnector } from "../transport/cells.ts";
import type { Connector, HttpClient, Trust } from "../transport/transport.ts";
import { after, randomBytes } from "./timers.ts";

/** Before the relay gives up an idle connection, so that no request goes out on one that is being closed. */
const idleMs = 20_000;

/** Deno's own additions to the standard `fetch`. */
interface DenoHttp {
  createHttpClient(options: {
    readonly caCerts: readonly string[];
    readonly http2: boolean;
    readonly poolIdleTimeout: number;
    readonly proxy?: { readonly transport: "tcp"; readonly hostname: string; readonly port: number };
  }): DenoHttpClient;
}

interface DenoHttpClient {
  close(): void;
}

export function openHttp({ caCerts }: Trust): HttpClient {
  const { Deno } = globalThis as unknown as { readonly Deno: DenoHttp }; // cast: only what is described above is used
  const options = { caCerts, http2: false, poolIdleTimeout: idleMs };
  // At once, so that a certificate which is none is refused here.
  const clients = new Map<string, DenoHttpClient>([["", Deno.createHttpClient(options)]]);
  let isOpen = true;
  const clientFor = (url: URL): DenoHttpClient => {
    const way = url.protocol === "http:" ? url.host : "";
    const client = clients.get(way) ??
      Deno.createHttpClient(way === "" ? options : { ...options, proxy: directTo(url) });
    clients.set(way, client);
    return client;
  };
  return {
    request: async (url, init) => {
      if (!isOpen) throw new Error("These connections were closed");
      return await fetch(url, Object.assign({}, init, { client: clientFor(new URL(url)) }));
    },
    close: () => {
      isOpen = false;
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}

/** Plain HTTP is for this machine alone. Deno would give it, with its credential in clear, to the proxy of `HTTP_PROXY`. */
function directTo({ hostname, port }: URL): { transport: "tcp"; hostname: string; port: number } {
  return { transport: "tcp", hostname, port: port === "" ? 80 : Number(port) };
}

/** Each is a connection of its own. */
const callsAtOnce = 4;

export const cells: Connector = createCellsConnector({ openHttp, unusable, randomBytes, callsAtOnce, after });

function unusable({ certificateHashes }: Trust): string | undefined {
  return certificateHashes.length > 0 ? "Deno can check tls.certificateHashes only over QUIC" : undefined;
}
