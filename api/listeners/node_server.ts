/**
 * Servers of `node:http` and `node:https`: places for their sockets, time-outs, and requests in the
 * form of the standard. HTTP/1.1 only; what is not that in every letter (a line of HTTP/0.9, two
 * Host headers) is refused, because a proxy in front might read it differently.
 */
import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { connectionKey, listen, takeSockets, type TlsServer } from "../../server/http2/mod.ts";
import { after, ListenerWatch, urlHost } from "../../server/mod.ts";
import {
  type ConnectionLimits,
  Connections,
  type RequestStage,
  type TrackedConnection,
} from "./connections.ts";
import {
  acceptFailed,
  firstStage,
  type HttpListener,
  type ListenOptions,
  refusalText,
} from "./listener.ts";

const tickMs = 1_000;
export interface NodeOptions extends ListenOptions {
  readonly scheme: "http" | "https";
  /** Headers of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of the server. */
export function timeoutsOf({ headMs, requestMs, idleMs }: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: tickMs,
  };
}

export async function listenNode(server: TlsServer, options: NodeOptions): Promise<HttpListener> {
  const { host, port, limits, scheme } = options;
  const connections = new Connections(limits, {
    nowMs: () => performance.now(),
    random: Math.random,
  });
  const places = admitSockets(server, connections);
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const place = places.get(connectionKey(incoming.socket));
    const reach = place?.begin(firstStage((name) => incoming.headers[name]?.toString())) ??
      (() => {});
    // Without it the client has not read all, and its connection is over.
    outgoing.once("finish", () => reach("over"));
    void answer(options, { incoming, outgoing, reach });
  });
  const listening = await listen(server, { hostname: host, port });
  const ticker = setInterval(() => connections.tick(), tickMs);
  const { promise: dead, resolve: die } = Promise.withResolvers<Error>();
  const onDead = (): void => die(new Error("the listener does not answer this process itself"));
  const watch = new ListenerWatch({ host, port: listening.port, onDead });
  server.on("connection", () => watch.accepted());
  return {
    url: `${scheme}://${urlHost(host)}:${listening.port}`,
    connections: () => connections.size,
    failed: Promise.race([listening.failed, dead]).then(acceptFailed),
    close: async (deadlineMs) => {
      watch.stop();
      // This also ends clients that have not finished the handshake; the server waits for those all
      // the same.
      const cancel = after(deadlineMs, () => connections.endAll());
      const closed = listening.close();
      server.closeIdleConnections();
      await closed;
      cancel();
      clearInterval(ticker);
    },
  };
}

/**
 * The place of each socket. Node's TLS socket does not tell which socket it is on, but its peer is
 * the same. A socket that is refused is destroyed before Node begins to work for it: a flood of
 * handshakes that had begun took gigabytes.
 */
export function admitSockets(
  server: EventEmitter,
  connections: Connections,
): ReadonlyMap<string, TrackedConnection> {
  const places = new Map<string, TrackedConnection>();
  const handOver = takeSockets(server, (socket) => {
    const { remoteAddress: peer = "", localAddress: local = "" } = socket;
    const place = connections.open({ peer, local }, () => socket.destroy());
    if (place === undefined) return void socket.destroy();
    const key = connectionKey(socket);
    places.set(key, place);
    socket.once("close", () => {
      // The peer may have used its port again before this is told.
      if (places.get(key) === place) places.delete(key);
      place.closed();
    });
    handOver(socket);
  });
  return places;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly reach: (stage: RequestStage) => void;
}

/** From Node's request to the standard one, and back from the standard response. */
async function answer(
  { handler, scheme, headers = {} }: NodeOptions,
  { incoming, outgoing, reach }: Exchange,
): Promise<void> {
  try {
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    const fault = faultOf(incoming);
    if (fault !== undefined) return refuse(outgoing, fault);
    const request = toRequest(scheme, incoming);
    const response = await handler(request, incoming.socket.remoteAddress, () => reach("work"));
    reach("answer");
    for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
    outgoing.writeHead(response.status);
    if (response.body !== null) {
      for await (const chunk of response.body) outgoing.write(chunk);
    }
    outgoing.end();
  } catch {
    // Not even a request (for example a malformed Host header), or the client went away.
    if (!outgoing.headersSent) outgoing.writeHead(400);
    outgoing.end();
  }
}

/**
 * Returns why it is not a request of HTTP/1.0 or 1.1, or one that a proxy in front might take for
 * another.
 */
function faultOf({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "Send the request with HTTP/1.1";
  const hosts =
    rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host").length;
  return hosts > 1 ? "Send one Host header" : undefined;
}

/** Nothing more is read from this connection. */
function refuse(outgoing: ServerResponse, error: string): void {
  outgoing.writeHead(400, { "content-type": "application/json", connection: "close" }).end(
    refusalText(error),
  );
}

function toRequest(scheme: string, incoming: IncomingMessage): Request {
  const headers = new Headers();
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.append(incoming.rawHeaders[i] ?? "", incoming.rawHeaders[i + 1] ?? "");
  }
  const { method = "GET", url = "/" } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(url, `${scheme}://${incoming.headers.host ?? "localhost"}`), {
    method,
    headers,
    // cast: bytes, no encoding is set
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array> } : {}),
  });
}
