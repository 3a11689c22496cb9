/** HTTP in Deno, which takes certificates through a client of its own, and cells over it. */
import { createCellsConnector } from "../transport/cells.ts";
import type { Connector, HttpClient, Trust } from "../transport/transport.ts";
import { randomBytes } from "./timers.ts";

/** Deno's own additions to the standard `fetch`. */
interface DenoHttp {
  createHttpClient(options: { readonly caCerts: readonly string[]; readonly http2: boolean }): DenoHttpClient;
}

interface DenoHttpClient {
  close(): void;
}

export function openHttp({ caCerts }: Trust): HttpClient {
  const { Deno } = globalThis as unknown as { readonly Deno: DenoHttp }; // cast: only what is described above is used
  const client = Deno.createHttpClient({ caCerts, http2: true });
  let open = true;
  return {
    request: (url, init) => {
      const withClient: RequestInit & { readonly client: DenoHttpClient } = { ...init, client };
      return fetch(url, withClient);
    },
    close: () => {
      if (open) client.close();
      open = false;
    },
  };
}

export const cells: Connector = createCellsConnector({ openHttp, unusable, randomBytes });

function unusable({ certificateHashes }: Trust): string | undefined {
  return certificateHashes.length > 0 ? "Deno can check tls.certificateHashes only over QUIC" : undefined;
}
