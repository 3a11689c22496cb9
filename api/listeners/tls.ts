/**
 * TLS through `node:https`, because only that can refuse TLS 1.2. HTTP/1.1 only; what is not that in every letter (a line of
 * HTTP/0.9, two Host headers) is refused, because a proxy in front might read it differently.
 */
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { after, type KeyedCertificate, ListenerWatch, urlHost } from "../../server/mod.ts";
import { type Connection, Connections } from "./connections.ts";
import { acceptFailed, type Handler, type Listener, type ListenOptions } from "./listener.ts";

export interface TlsListener extends Listener {
  /** A renewed certificate for handshakes from now on; open connections stay. */
  setCertificate(certificate: KeyedCertificate): void;
}

const tickMs = 1_000;
/**
 * Connections that the system holds until they are accepted. Node accepts all of them before any can be refused, so as many
 * files are kept free.
 */
export const tlsBacklog = 128;
/** A year, as browsers' lists ask for. */
const strictTransport = "max-age=31536000";

export async function listenTls(
  { host, port, handler, limits, certificate }: ListenOptions & { readonly certificate: KeyedCertificate },
): Promise<TlsListener> {
  const server = createServer({
    ...certificate,
    minVersion: "TLSv1.3",
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: limits.headMs,
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: tickMs,
  });
  const connections = new Connections(limits, () => performance.now());
  const places = admitSockets(server, connections);
  server.on("request", (incoming, outgoing) => {
    const place = places.get(placeKey(incoming.socket));
    place?.begin();
    // "close" follows "finish", and comes alone when the client has gone.
    outgoing.once("close", () => place?.finish());
    void answer(handler, incoming, outgoing);
  });
  // A client that fails the handshake is its own problem; without a listener it would be an uncaught error.
  server.on("tlsClientError", (_, socket) => socket.destroy());
  const { failed, fail } = await listen(server, { host, port });
  const ticker = setInterval(() => connections.tick(), tickMs);
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  const onDead = (): void => fail(acceptFailed("the listener does not answer this process itself"));
  const watch = new ListenerWatch({ host, port: bound, onDead });
  server.on("connection", ({ remotePort }: Socket) => watch.accepted(remotePort));
  return {
    url: `https://${urlHost(host)}:${bound}`,
    connections: () => connections.size,
    failed,
    setCertificate: (renewed) => server.setSecureContext({ ...renewed, minVersion: "TLSv1.3" }),
    close: async (deadlineMs) => {
      watch.stop();
      // Among those that are ended then: who has not finished the handshake. The server waits for those all the same.
      const cancel = after(deadlineMs, () => connections.endAll());
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await closed;
      cancel();
      clearInterval(ticker);
    },
  };
}

/** The place of each socket. Node's TLS socket does not tell which socket it is on, but its peer is the same. */
function admitSockets(server: Server, connections: Connections): ReadonlyMap<string, Connection> {
  const places = new Map<string, Connection>();
  server.on("connection", (socket: Socket) => {
    const place = connections.open(socket.remoteAddress ?? "", () => socket.destroy());
    if (place === undefined) return void socket.destroy();
    const key = placeKey(socket);
    places.set(key, place);
    socket.once("close", () => {
      places.delete(key);
      place.closed();
    });
  });
  return places;
}

function placeKey({ remoteAddress = "", remotePort = 0 }: Socket | TLSSocket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Resolves to what later tells that the server accepts no more. */
function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ failed: Promise<Error>; fail: (error: Error) => void }> {
  return new Promise((resolve, reject) => {
    const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
    server.once("error", reject);
    server.listen({ port, host, backlog: tlsBacklog }, () => {
      server.off("error", reject);
      server.on("error", (cause) => fail(acceptFailed(cause)));
      resolve({ failed, fail });
    });
  });
}

/** From Node's request to the standard one, and back from the standard response. */
async function answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  try {
    outgoing.setHeader("strict-transport-security", strictTransport);
    const fault = faultOf(incoming);
    if (fault !== undefined) return refuse(outgoing, fault);
    const response = await handler(toRequest(incoming), incoming.socket.remoteAddress);
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

/** What makes it no request of HTTP/1.0 or 1.1, or one that a proxy in front might take for another. */
function faultOf({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "Send the request with HTTP/1.1";
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host").length;
  return hosts > 1 ? "Send one Host header" : undefined;
}

/** In the shape of every refusal (`routes/errors.ts`). Nothing more is read from this connection. */
function refuse(outgoing: ServerResponse, error: string): void {
  const body = JSON.stringify({ error, code: "invalid_request", request_id: crypto.randomUUID() });
  outgoing.writeHead(400, { "content-type": "application/json", connection: "close" }).end(body);
}

function toRequest(incoming: IncomingMessage): Request {
  const headers = new Headers();
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.append(incoming.rawHeaders[i] ?? "", incoming.rawHeaders[i + 1] ?? "");
  }
  const { method = "GET", url = "/" } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(url, `https://${incoming.headers.host ?? "localhost"}`), {
    method,
    headers,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array> } : {}), // cast: bytes, no encoding is set
  });
}
