/**
 * Tunnels through an HTTP proxy, for modules of Node, which know of none. The variables mean the
 * same as in Deno's `fetch`: `ALL_PROXY`, then `HTTPS_PROXY`, each also in lower case, but for the
 * hosts of `NO_PROXY`. See docs/deploy.md.
 */
import { Buffer } from "node:buffer";
import { request as requestPlain } from "node:http";
import { Agent, request as requestTls } from "node:https";
import { BlockList, isIP, type Socket } from "node:net";
import process from "node:process";
import { connect, type ConnectionOptions } from "node:tls";
import { authorityOf } from "../transport/authority.ts";
import type { ConnectTarget } from "../transport/transport.ts";

type HostAndPort = Pick<ConnectTarget, "host" | "port">;
type ProxyVariables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy on the way to this host; undefined when there is none. Throws for one that cannot be
 * used.
 */
export function findProxy(host: string, variables: ProxyVariables = process.env): URL | undefined {
  const name = firstOf(variables, "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy");
  const exempt = firstOf(variables, "NO_PROXY", "no_proxy");
  if (name === undefined || isExempt(host, variables[exempt ?? ""] ?? "")) return undefined;
  const text = variables[name] ?? "";
  const url = text.includes("://") ? text : `http://${text}`;
  const proxy = URL.canParse(url) ? new URL(url) : undefined;
  if (proxy?.protocol !== "http:" && proxy?.protocol !== "https:") {
    throw new Error(`${name} is no address of an HTTP proxy; write http://host:port`);
  }
  if (isDecodable(proxy.username) && isDecodable(proxy.password)) return proxy;
  throw new Error(
    `${name} has a "%" in its name or password that encodes nothing; write %25 for it`,
  );
}

/** The name of the one that is set. An empty one counts as none. */
function firstOf(variables: ProxyVariables, ...names: readonly string[]): string | undefined {
  return names.find((name) => (valueOf(variables, name) ?? "") !== "");
}

function valueOf(variables: ProxyVariables, name: string): string | undefined {
  try {
    return variables[name];
  } catch {
    return undefined; // Deno without permission
  }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns whether a list exempts a host: by name, with everything below it; by address; by a range
 * of addresses, as in `10.0.0.0/8`; or `*` for all.
 */
function isExempt(host: string, list: string): boolean {
  return list.split(",").map((entry) => entry.trim().toLowerCase()).some((entry) => {
    if (entry === "") return false;
    if (entry === "*") return true;
    if (isIP(host) !== 0) return isInRange(host, entry);
    const name = entry.replace(/^\./, "");
    return host === name || host.endsWith(`.${name}`);
  });
}

function isInRange(host: string, entry: string): boolean {
  const [family, most] = isIP(host) === 6 ? ["ipv6", 128] as const : ["ipv4", 32] as const;
  const [address = "", bits = String(most), ...more] = entry.replace(/^\[|\]$/g, "").split("/");
  const isRange = isIP(address) === isIP(host) && /^\d+$/.test(bits) && Number(bits) <= most &&
    more.length === 0;
  if (!isRange) return false;
  const range = new BlockList();
  range.addSubnet(address, Number(bits), family);
  return range.check(host, family);
}

/**
 * A connection through the proxy that the environment names for this place; undefined when the way
 * there is direct.
 */
export async function openTunnel(
  place: HostAndPort,
  signal?: AbortSignal,
): Promise<Socket | undefined> {
  const proxy = findProxy(place.host);
  return proxy && await tunnelTo(place, proxy, signal);
}

/** Opens an agent for one call of `node:https`, with a tunnel. Undefined when the way is direct. */
export async function openTunnelAgent(
  url: string,
  trust: ConnectionOptions,
  signal?: AbortSignal,
): Promise<Agent | undefined> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = await openTunnel({ host, port: port === "" ? 443 : Number(port) }, signal);
  if (socket === undefined) return undefined;
  const secured = connect({
    ...trust,
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
  });
  // The socket has an owner for its errors before the call has taken it.
  secured.on("error", () => {});
  return Object.assign(new Agent(), { createConnection: () => secured });
}

/** Rejects when the proxy refuses. */
export function tunnelTo(place: HostAndPort, proxy: URL, signal?: AbortSignal): Promise<Socket> {
  const authority = authorityOf(place);
  const { protocol, hostname, port, username, password } = proxy;
  const name = decodeURIComponent(username);
  const credential = Buffer.from(`${name}:${decodeURIComponent(password)}`).toString("base64");
  return new Promise((resolve, reject) => {
    const refused = (why: string, cause?: unknown): void =>
      reject(new Error(`the proxy ${proxy.host} does not lead to ${authority}: ${why}`, { cause }));
    const call = (protocol === "https:" ? requestTls : requestPlain)({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
      method: "CONNECT",
      path: authority,
      headers: {
        host: authority,
        ...(username !== "" && { "proxy-authorization": `Basic ${credential}` }),
      },
      agent: false,
      ...(signal && { signal }),
    });
    call.once("connect", ({ statusCode = 0 }, socket, head) => {
      // TLS on top of it is told of its end, and has the errors that matter.
      socket.on("error", () => {});
      const isOpen = statusCode >= 200 && statusCode < 300;
      if (isOpen && head.length === 0) return resolve(socket);
      socket.destroy();
      refused(isOpen ? "it says more than it was asked" : `HTTP status ${statusCode}`);
    });
    call.once("response", ({ statusCode }) => {
      call.destroy();
      refused(`HTTP status ${statusCode}`);
    });
    call.on(
      "error",
      (error) => signal?.aborted ? reject(signal.reason) : refused(error.message, error),
    );
    call.end();
  });
}
