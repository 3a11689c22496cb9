/**
 * The one place where servers of `node:https` are made, listen, and take their sockets. Each socket
 * has an owner for its errors from its first moment to its last: a client may reset its connection
 * at any time, and an error that nobody listens for ends the process.
 */
import type { EventEmitter } from "node:events";
import {
  createServer as createHttpsServer,
  type Server as TlsServer,
  type ServerOptions as TlsOptions,
} from "node:https";
import {
  createServer as createSocketServer,
  type Server as SocketServer,
  type Socket,
} from "node:net";
import type { TLSSocket } from "node:tls";

export type { TlsServer };

/**
 * TLS 1.3 only. It has no limit on handshakes: Deno keeps its timer, and with it the TLS socket,
 * when the socket closes before.
 */
export function createTlsServer(options: TlsOptions): TlsServer {
  const server = createHttpsServer({ ...options, minVersion: "TLSv1.3", handshakeTimeout: -1 });
  // A handshake that fails is its client's affair.
  server.on("tlsClientError", (_, socket) => socket.destroy());
  server.prependListener("connection", own);
  server.prependListener("secureConnection", own);
  return server;
}

/** "close" always follows an error and says all that matters. */
function own(socket: Socket | TLSSocket): void {
  socket.on("error", () => {});
}

/**
 * Stands before what the server does with a new socket, which has its owner already. Returns how to
 * hand one over to it.
 */
export function takeSockets(
  server: EventEmitter,
  came: (socket: Socket) => void,
): (socket: Socket) => void {
  return take<Socket>(server, "connection", came);
}

/** The same for sockets whose handshake is done. */
export function takeSecureSockets(
  server: TlsServer,
  came: (socket: TLSSocket) => void,
): (socket: TLSSocket) => void {
  return take<TLSSocket>(server, "secureConnection", came);
}

function take<Taken extends Socket>(
  server: EventEmitter,
  event: "connection" | "secureConnection",
  came: (socket: Taken) => void,
): (socket: Taken) => void {
  const begins = server.listeners(event).filter((listener) => listener !== own);
  server.removeAllListeners(event).on(event, own).on(event, came);
  return (socket) => {
    for (const begin of begins) begin.call(server, socket);
  };
}

export interface ListenAddress {
  readonly hostname: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export interface ListeningSockets {
  readonly port: number;
  /** Resolves when nothing is accepted any more: only a new server can. */
  readonly failed: Promise<Error>;
  /** Resolves when the last socket is closed. */
  close(): Promise<void>;
}

/**
 * Sockets that the system holds until they are accepted. Node accepts all of them before any can be
 * refused.
 */
export const backlog = 128;

export async function listen(server: TlsServer, address: ListenAddress): Promise<ListeningSockets> {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  const listeners = await openOnEach(
    address,
    (at, isFirst) => listenAt(isFirst ? server : servingFor(server), at, fail),
  );
  return {
    port: listeners[0]?.port ?? 0,
    failed,
    close: async () => void await Promise.all(listeners.map((listener) => listener.close())),
  };
}

/** Another door to the same server. */
function servingFor(server: TlsServer): SocketServer {
  return createSocketServer(
    { allowHalfOpen: true },
    (socket) => void server.emit("connection", socket),
  );
}

interface OpenedPort {
  readonly port: number;
  close(): unknown;
}

function listenAt(
  server: TlsServer | SocketServer,
  { hostname, port }: ListenAddress,
  fail: (error: Error) => void,
): Promise<OpenedPort & { close(): Promise<void> }> {
  return new Promise((resolve, reject) => {
    let isListening = false;
    server.on("error", (error) => isListening ? fail(error) : reject(error));
    server.listen({ port, host: hostname, backlog }, () => {
      isListening = true;
      const address = server.address();
      if (address === null || typeof address === "string") {
        return reject(new Error("The server has no port"));
      }
      resolve({
        port: address.port,
        close: () => new Promise<void>((closed) => void server.close(() => closed())),
      });
    });
  });
}

/** Ports of the system's choice that may be taken at the second address. */
const maxTries = 8;
/**
 * A machine without IPv6 has no second address. `node:net` says `EINVAL` where the runtime's own
 * listeners say `EADDRNOTAVAIL`.
 */
const noAddress = ["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"];

/** Opens a listener on each address that the name stands for, all on one port. */
export async function openOnEach<Listener extends OpenedPort>(
  { hostname, port }: ListenAddress,
  open: (address: ListenAddress, isFirst: boolean) => Listener | Promise<Listener>,
): Promise<readonly Listener[]> {
  const [first, ...others] = addressesOf(hostname);
  for (let tries = 1;; tries++) {
    const opened = [await open({ hostname: first, port }, true)];
    try {
      for (const other of others) {
        opened.push(await open({ hostname: other, port: opened[0]?.port ?? port }, false));
      }
      return opened;
    } catch (error) {
      if (hasCode(error, ...noAddress)) return opened;
      await Promise.all(opened.map((listener) => listener.close()));
      if (port !== 0 || tries === maxTries || !hasCode(error, "EADDRINUSE")) throw error;
    }
  }
}

/** `localhost` is both addresses of this machine, because programs take it for either. */
export function addressesOf(hostname: string): readonly [first: string, ...others: string[]] {
  return hostname === "localhost" ? ["127.0.0.1", "::1"] : [hostname];
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && codes.includes(String(Reflect.get(error, "code")));
}
