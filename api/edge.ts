/**
 * The entry for edge runtimes (`deno serve api/edge.ts`, Deno Deploy): TLS and sockets are theirs,
 * so this deployment sits behind a terminating edge by definition. Needs `DATABASE_URL`,
 * `STATIC_JWT_KEYS` and `STATIC_RELAY_SECRET`, because an edge has no data directory that lasts.
 * Rates stand in the database, because a platform may run any number of processes. Errors of the
 * start show at the first request, and the next one tries again.
 */
import type { App, Fetch } from "./app.ts";
import { configFromEnvironment } from "./config.ts";
import { type Api, createApi } from "./start_api.ts";

export interface Edge {
  fetch(request: Request, info?: Deno.ServeHandlerInfo): Promise<Response>;
}

/** Serves one of the app's two sides. */
export function createEdge(side: (app: App) => Fetch): Edge {
  const running: { api?: Promise<Api> } = {};
  const api = (): Promise<Api> =>
    running.api ??= createApi(configFromEnvironment(), {
      writeLog: (line) => console.log(line),
      sharesRates: true,
    })
      .catch((error) => {
        delete running.api;
        throw error;
      });
  return {
    fetch: async (request, info) => {
      const peer = info !== undefined && "hostname" in info.remoteAddr
        ? info.remoteAddr.hostname
        : undefined;
      return await side((await api()).app)(request, peer);
    },
  };
}

export default createEdge((app) => app.fetch);
