/** HTTP in Deno, which takes certificates through a client of its own. */
import type { CertificateTrust, HttpClient } from "../transport/transport.ts";

/**
 * Before the relay gives up an idle connection, so that no request goes out on one that is being
 * closed.
 */
const idleMs = 20_000;

/** Deno's own additions to the standard `fetch`. */
interface DenoHttp {
  createHttpClient(options: {
    readonly caCerts: readonly string[];
    readonly http2: boolean;
    readonly poolIdleTimeout: number;
    readonly proxy?: {
      readonly transport: "tcp";
      readonly hostname: string;
      readonly port: number;
    };
  }): DenoHttpClient;
}

interface DenoHttpClient {
  close(): void;
}

export function openHttp({ caCerts }: CertificateTrust): HttpClient {
  // cast: only what is described above is used
  const { Deno } = globalThis as unknown as { readonly Deno: DenoHttp };
  // Over HTTP/2 Deno writes a request in two pieces, and the second waits until the first is
  // acknowledged: 44 ms.
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

/**
 * Plain HTTP is for this machine alone. Deno would give it, with its credential in clear, to the
 * proxy of `HTTP_PROXY`.
 */
function directTo({ hostname, port }: URL): { transport: "tcp"; hostname: string; port: number } {
  return { transport: "tcp", hostname, port: port === "" ? 80 : Number(port) };
}
