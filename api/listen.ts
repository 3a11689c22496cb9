/**
 * Sockets. Plain HTTP through `Deno.serve`; with a certificate through `node:https`, because only that can refuse TLS 1.2.
 * Both stop gracefully: no new connections, requests in flight are finished, idle connections are closed.
 */
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Duplex, Readable } from "node:stream";
import { urlHost } from "../server/mod.ts";

export type Handler = (request: Request, peer: string | undefined) => Response | Promise<Response>;

export interface Listener {
  readonly url: string;
  /** Resolves when the last request was answered, or after `deadlineMs` when the rest was cut off. */
  close(deadlineMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: Handler;
}

export function listenPlain({ host, port, handler }: ListenOptions): Listener {
  const abort = new AbortController();
  const server = Deno.serve(
    { hostname: host, port, signal: abort.signal, onListen: () => {} },
    (request, { remoteAddr }) => handler(request, "hostname" in remoteAddr ? remoteAddr.hostname : undefined),
  );
  return {
    url: `http://${urlHost(host)}:${server.addr.port}`,
    close: async (deadlineMs) => {
      const timer = setTimeout(() => abort.abort(), deadlineMs);
      await server.shutdown();
      await server.finished;
      clearTimeout(timer);
    },
  };
}

/** Well below the files that a process may have open (65,536 in our unit): accepting one too many ends the process. */
const maxTlsConnections = 20_000;
/** For a handshake and for a request's head, from somebody who means it; its body of at most 64 KiB may take three times that. */
const tlsPatienceMs = 10_000;

export async function listenTls(
  { host, port, handler, certificate, key, ...limits }: ListenOptions & {
    certificate: string;
    key: string;
    /** Further ones are closed at once. */
    maxConnections?: number;
    /** Slower ones are closed, so that places are not held by whoever sends nothing. */
    patienceMs?: number;
  },
): Promise<Listener> {
  const { maxConnections = maxTlsConnections, patienceMs = tlsPatienceMs } = limits;
  const server = createServer({
    cert: certificate,
    key,
    minVersion: "TLSv1.3",
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: patienceMs,
    headersTimeout: patienceMs,
    requestTimeout: 3 * patienceMs,
    connectionsCheckingInterval: patienceMs / 2,
  });
  server.maxConnections = maxConnections;
  server.on("request", (incoming, outgoing) => void answer(handler, incoming, outgoing));
  // A client that fails the handshake is its own problem; without a listener it would be an uncaught error.
  server.on("tlsClientError", (_, socket) => socket.destroy());
  const sockets = new Set<Duplex>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      // An error from here on means that nothing is accepted any more. Uncaught, it ends the process, which is started again.
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return { url: `https://${urlHost(host)}:${bound}`, close: (deadlineMs) => closeTls(server, sockets, deadlineMs) };
}

function closeTls(server: Server, sockets: ReadonlySet<Duplex>, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.closeAllConnections();
      // Not among them: whoever has not finished the handshake. The server waits for those all the same.
      for (const socket of sockets) socket.destroy();
    }, deadlineMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** From Node's request to the standard one, and back from the standard response. */
async function answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  try {
    const response = await handler(toRequest(incoming), incoming.socket.remoteAddress);
    outgoing.writeHead(response.status, [...response.headers].flat());
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
