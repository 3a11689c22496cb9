/** The admin port: metrics, and what else a part offers its operators, in plain HTTP, for the operator's network only. */
import { urlHost } from "./addresses.ts";
import { after } from "./timers.ts";
import { naming } from "./taken_port.ts";
import type { VariableReader } from "./variables.ts";

export interface AdminAddress {
  readonly host: string;
  readonly port: number;
}

export interface AdminServer {
  readonly url: string;
  close(): Promise<void>;
}

/** For a scrape under way at the stop. */
const closeMs = 1_000;

/** Undefined when `STATIC_ADMIN_PORT` is `off`. */
export function readAdminAddress(read: VariableReader, defaultPort: number): AdminAddress | undefined {
  const host = read.text("STATIC_ADMIN_HOST", "127.0.0.1");
  if (read.given("STATIC_ADMIN_PORT") === "off") return undefined;
  return { host, port: read.port("STATIC_ADMIN_PORT", defaultPort) };
}

/** `other` returns undefined for a request that is not its. */
export async function serveAdmin(
  { host, port }: AdminAddress,
  renderMetrics: () => string,
  other: (request: Request) => Promise<Response | undefined> = () => Promise.resolve(undefined),
): Promise<AdminServer> {
  const abort = new AbortController();
  const server = await naming(
    { port, variable: "STATIC_ADMIN_PORT" },
    () =>
      Deno.serve({ hostname: host, port, signal: abort.signal, onListen: () => {} }, async (request) => {
        if (new URL(request.url).pathname !== "/metrics") {
          return await other(request) ?? new Response("Not found\n", { status: 404 });
        }
        return new Response(renderMetrics(), {
          headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
        });
      }),
  );
  return {
    url: `http://${urlHost(host)}:${server.addr.port}`,
    close: async () => {
      const cancel = after(closeMs, () => abort.abort());
      await server.shutdown();
      cancel();
    },
  };
}
