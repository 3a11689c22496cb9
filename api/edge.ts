/**
 * The entry for edge runtimes (`deno serve api/edge.ts`, Deno Deploy): TLS and sockets are theirs, so this deployment sits
 * behind a terminating edge by definition. Needs `DATABASE_URL`, `STATIC_JWT_KEYS` and `STATIC_RELAY_SECRET`, because an
 * edge has no data directory that lasts. Errors of the start show at the first request, and the next one tries again.
 */
import { configFromEnvironment } from "./config.ts";
import { type Api, createApi } from "./start_api.ts";

const running: { api?: Promise<Api> } = {};

function api(): Promise<Api> {
  return running.api ??= createApi(configFromEnvironment(), { writeLog: (line) => console.log(line) })
    .catch((error) => {
      delete running.api;
      throw error;
    });
}

export default {
  fetch: async (request: Request, info?: Deno.ServeHandlerInfo): Promise<Response> => {
    const peer = info !== undefined && "hostname" in info.remoteAddr ? info.remoteAddr.hostname : undefined;
    return await (await api()).app.fetch(request, peer);
  },
};
