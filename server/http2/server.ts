/**
 * One TLS 1.3 port for HTTP/2 and HTTP/1.1. `node:https` accepts and decrypts; sockets that chose
 * `h2` by ALPN are ours, the others go back to the HTTP/1.1 server they came from.
 */
import type { TLSSocket } from "node:tls";
import { type Budgets, defaultBudgets } from "./budgets.ts";
import { Connection } from "./connection.ts";
import { SocketAdmission, type SocketClient } from "./socket_admission.ts";
import type { Handler, StandingOf } from "./handler.ts";
import { serveHttp1 } from "./http1.ts";
import { createTlsServer, listen, takeSecureSockets, type TlsServer } from "./incoming_sockets.ts";
import type { Transport } from "./outbox.ts";
import { PeerBudgets, type PeerStats } from "./peer_budgets.ts";

export interface ServerOptions {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly hostname: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly handler: Handler;
  /**
   * Tells members and health checks from strangers. Without it, all requests are a stranger's until
   * a handler vouches.
   */
  readonly standingOf?: StandingOf;
  /**
   * Whether sockets of this address are a balancer's, which says first whose connection it carries
   * (PROXY protocol). Nobody is unless told: from others such a header is garbage.
   */
  readonly isBalancer?: (address: string) => boolean;
  readonly budgets?: Partial<Budgets>;
  /** How late the event loop runs, smoothed; absent: strangers have the same whatever the load. */
  readonly lagMs?: () => number;
  /** For each socket that was accepted, also those that are refused then. */
  readonly onSocket?: () => void;
  /** A handler threw, or this code has a fault. Nothing is thrown anywhere else. */
  readonly onFault: (error: unknown) => void;
}

export interface Server {
  readonly port: number;
  readonly stats: () => ServerStats;
  /** Resolves when the port accepts no more: only a new server can. */
  readonly failed: Promise<Error>;
  /** A renewed certificate for handshakes from now on. */
  setCertificate(pair: { cert: string; key: string }): void;
  /** Accepts nothing new, lets streams finish within the drain time-out, then ends. */
  shutdown(): Promise<void>;
}

export interface ServerStats {
  /** Sockets of either protocol, handshakes included. */
  readonly sockets: number;
  readonly connections: number;
  readonly streams: number;
  readonly peers: PeerStats;
}

const tickMs = 1_000;

export async function serve(options: ServerOptions): Promise<Server> {
  const budgets: Budgets = { ...defaultBudgets, ...options.budgets };
  const peers = new PeerBudgets(budgets, () => performance.now(), options.lagMs);
  const parts: ServerParts = {
    budgets,
    peers,
    vouched: new WeakSet(),
    handler: options.handler,
    standingOf: options.standingOf ?? (() => "stranger"),
    clientOf: (socket) => door.clientOf(socket),
    onFault: contained(options.onFault),
  };
  const server = createServer(options, parts);
  const connections = takeHttp2Sockets(server, parts);
  // Behind it, to hear of all handshakes.
  const door = new SocketAdmission(server, {
    budgets,
    peers,
    isBalancer: options.isBalancer ?? (() => false),
  });

  if (options.onSocket !== undefined) {
    server.on("connection", () => options.onSocket?.());
  }
  const { port, failed, close } = await listen(server, options);
  const ticker = setInterval(() => {
    const nowMs = performance.now();
    for (const connection of connections) contain(() => connection.tick(nowMs), parts.onFault);
  }, tickMs);

  return {
    port,
    failed,
    stats: () => ({
      sockets: door.size,
      connections: connections.size,
      streams: connections.values().reduce((sum, connection) => sum + connection.openStreams, 0),
      peers: peers.stats(),
    }),
    setCertificate: (pair) => server.setSecureContext({ ...pair, minVersion: "TLSv1.3" }),
    shutdown: async () => {
      const closed = close();
      for (const connection of connections) connection.shutdown();
      server.closeIdleConnections();
      const deadline = setTimeout(() => door.destroyAll(), budgets.drainTimeoutMs + tickMs);
      await closed;
      clearTimeout(deadline);
      clearInterval(ticker);
    },
  };
}

interface ServerParts {
  readonly budgets: Budgets;
  readonly peers: PeerBudgets;
  readonly vouched: WeakSet<object>;
  readonly handler: Handler;
  readonly standingOf: StandingOf;
  readonly clientOf: (socket: TLSSocket) => SocketClient | undefined;
  readonly onFault: (error: unknown) => void;
}

/** A reporter that fails must not take the process with it. */
function contained(report: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      report(error);
    } catch {
      // There is nobody else to tell.
    }
  };
}

/** The door limits handshakes. */
function createServer({ cert, key }: ServerOptions, parts: ServerParts): TlsServer {
  const { budgets } = parts;
  const server = createTlsServer({
    cert,
    key,
    ALPNProtocols: ["h2", "http/1.1"],
    headersTimeout: budgets.handshakeTimeoutMs,
    keepAliveTimeout: budgets.keepAliveIntervalMs,
    connectionsCheckingInterval: tickMs,
    maxHeaderSize: budgets.headerListBytes,
  });
  server.on("request", (incoming, outgoing) => {
    serveHttp1({ incoming, outgoing }, parts).catch(parts.onFault);
  });
  // HTTP/1.1 sockets on which nothing moves; ours are watched by their connections.
  server.setTimeout(budgets.stalledStreamMs);
  return server;
}

/**
 * Stands between TLS and node's HTTP/1.1: clients that chose `h2` stay here. Returns the set of
 * open connections.
 */
function takeHttp2Sockets(server: TlsServer, parts: ServerParts): ReadonlySet<Connection> {
  const connections = new Set<Connection>();
  const handOver = takeSecureSockets(server, (socket) => {
    if (socket.alpnProtocol !== "h2") return handOver(socket);
    const client = parts.clientOf(socket);
    if (client === undefined) return void socket.destroy();
    const connection = attach(socket, client, parts);
    connections.add(connection);
    socket.once("close", () => connections.delete(connection));
  });
  return connections;
}

/** A fault of this code, which a peer may have found, costs that peer's connection and no other. */
function contain(act: () => void, failed: (error: unknown) => void): void {
  try {
    act();
  } catch (error) {
    failed(error);
  }
}

function attach(
  socket: TLSSocket,
  { address, peer, place }: SocketClient,
  parts: ServerParts,
): Connection {
  const failed = (error: unknown): void => {
    parts.onFault(error);
    socket.destroy();
  };
  const connection = new Connection(transportOf(socket), {
    ...parts,
    now: () => performance.now(),
    defer: (task) => setImmediate(() => contain(task, failed)),
    remoteAddress: address,
    peer,
    place,
  });
  socket.setNoDelay(true);
  socket.on("data", (chunk: Uint8Array) => {
    contain(() => connection.receive(chunk), failed);
    // Bytes that an offender still sends are not worth decrypting; its socket ends in a moment.
    if (connection.isOver && peer.isOffender) socket.pause();
  });
  socket.on("drain", () => contain(() => connection.drained(), failed));
  socket.on("close", () => contain(() => connection.closed(), failed));
  return connection;
}

function transportOf(socket: TLSSocket): Transport {
  return {
    write: (bytes) => socket.write(bytes),
    queuedBytes: () => socket.writableLength,
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  };
}
