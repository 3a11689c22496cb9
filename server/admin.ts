/**
 * The admin port: metrics, and what else a part offers its operators, in plain HTTP, for the
 * operator's network only.
 */
import { isIpAddress, isLoopback, urlHost } from "./addresses.ts";
import { naming } from "./taken_port.ts";
import { within } from "./timers.ts";
import type { VariableReader } from "./variables.ts";
import { waits } from "./waits.ts";

export interface AdminAddress {
  readonly host: string;
  readonly port: number;
  /** By which others in the operator's network call it, in small letters. */
  readonly names: readonly string[];
}

export interface AdminServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Undefined when `STATIC_ADMIN_PORT` is `off`. */
export function readAdminAddress(
  read: VariableReader,
  defaultPort: number,
): AdminAddress | undefined {
  const host = read.text("STATIC_ADMIN_HOST", "127.0.0.1");
  const names =
    read.list("STATIC_ADMIN_NAMES", parseName, "a name without a port, such as relay.internal") ??
      [];
  if (read.given("STATIC_ADMIN_PORT") === "off") return undefined;
  return { host, port: read.port("STATIC_ADMIN_PORT", defaultPort), names };
}

function parseName(text: string): string | undefined {
  return /^[\w.-]+$/.test(text) ? text.toLowerCase() : undefined;
}

const misdirected =
  "This port answers to addresses, to localhost and to the names in STATIC_ADMIN_NAMES";

/**
 * Whether `named`, the Host of a request, can be meant for this port. A page of a stranger may have
 * its own name lead to this machine, so that a browser here would let it read the answers: nothing
 * else in such a request tells it from a scraper's.
 */
function isOurs(named: string, { host, names }: AdminAddress): boolean {
  return isLoopback(named) || isIpAddress(named) || named === host.toLowerCase() ||
    names.includes(named);
}

/** `other` returns undefined for a request that is not its. */
export async function serveAdmin(
  address: AdminAddress,
  renderMetrics: () => string,
  other: (request: Request) => Promise<Response | undefined> = () => Promise.resolve(undefined),
): Promise<AdminServer> {
  const { host, port } = address;
  const abort = new AbortController();
  const underWay = new Set<Promise<Response>>();
  const answer = async (request: Request): Promise<Response> => {
    const { hostname, pathname } = new URL(request.url);
    if (!isOurs(hostname, address)) return new Response(`${misdirected}\n`, { status: 421 });
    if (pathname !== "/metrics") {
      return await other(request) ?? new Response("Not found\n", { status: 404 });
    }
    return new Response(renderMetrics(), {
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    });
  };
  const server = await naming(
    { port, variable: "STATIC_ADMIN_PORT" },
    () =>
      Deno.serve({ hostname: host, port, signal: abort.signal, onListen: () => {} }, (request) => {
        const answering = answer(request);
        underWay.add(answering);
        return answering.finally(() => underWay.delete(answering));
      }),
  );
  return {
    url: `http://${urlHost(host)}:${server.addr.port}`,
    // Not `shutdown`: it waits for a request whose end never comes, and after it nothing can be cut
    // off any more.
    close: async () => {
      await within(waits.scrape.ms, Promise.allSettled(underWay).then(() => {}));
      abort.abort();
      await server.finished;
    },
  };
}
