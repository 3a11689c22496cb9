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
  }): DenoHttpClient;
}

interface DenoHttpClient {
  close(): void;
}

export function openHttp({ caCerts }: Trust): HttpClient {
  const { Deno } = globalThis as unknown as { readonly Deno: DenoHttp }; // cast: only what is described above is used
  const client = Deno.createHttpClient({ caCerts, http2: false, poolIdleTimeout: idleMs });
  let open = true;
  return {
    request: (url, init) => fetch(url, Object.assign({}, init, { client })),
    close: () => {
      if (open) client.close();
      open = false;
    },
  };
}

/** Each is a connection of its own. */
const callsAtOnce = 4;

export const cells: Connector = createCellsConnector({ openHttp, unusable, randomBytes, callsAtOnce, after });

function unusable({ certificateHashes }: Trust): string | undefined {
  return certificateHashes.length > 0 ? "Deno can check tls.certificateHashes only over QUIC" : undefined;
}
