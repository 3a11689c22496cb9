/**
 * Where sockets come in: counted, paced and refused before TLS has begun to work for them. Sockets
 * that come faster than handshakes may begin wait here, and networks take turns; those whose
 * handshakes come to nothing have theirs later. A balancer's sockets say first whose they are, and
 * count for that client.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Bucket, Places } from "../limits/mod.ts";
import { AwaitedHeaders } from "./awaited_headers.ts";
import type { Budgets } from "./budgets.ts";
import { backlog, takeSockets, type TlsServer } from "./incoming_sockets.ts";
import type { PeerBudget, PeerBudgets } from "./peer_budgets.ts";
import { balancerAddress } from "./proxy_header.ts";
import { type SocketPlace, SocketPlaces } from "./socket_places.ts";

export interface SocketAdmissionParts {
  readonly budgets: Budgets;
  readonly peers: PeerBudgets;
  readonly isBalancer: (address: string) => boolean;
}

/** At the other end of a socket. */
export interface SocketClient {
  /** Its own, also behind a balancer. */
  readonly address: string;
  readonly peer: PeerBudget;
  readonly place: SocketPlace;
}

interface SocketInQueue {
  readonly socket: Socket;
  readonly client: SocketClient;
}

const turnMs = 20;

export class SocketAdmission {
  readonly #budgets: Budgets;
  readonly #peers: PeerBudgets;
  readonly #isBalancer: (address: string) => boolean;
  readonly #headers: AwaitedHeaders;
  readonly #places: SocketPlaces;
  readonly #handshakes: Bucket;
  readonly #waiting: Places<SocketInQueue>;
  readonly #sockets = new Set<Socket>();
  /**
   * By `connectionKey`: TLS sockets do not tell which socket they are on, and behind a balancer
   * have its address.
   */
  readonly #clients = new Map<string, SocketClient>();
  /** Ends handshakes that are late, by `connectionKey` too. */
  readonly #handshaking = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #handOver: (socket: Socket) => void;
  #turn: ReturnType<typeof setTimeout> | undefined;

  /** Stands before what `node:https` does with a new socket. */
  constructor(server: TlsServer, { budgets, peers, isBalancer }: SocketAdmissionParts) {
    this.#budgets = budgets;
    this.#peers = peers;
    this.#isBalancer = isBalancer;
    this.#headers = new AwaitedHeaders(budgets);
    this.#places = new SocketPlaces(budgets, peers.now);
    this.#handshakes = new Bucket(budgets.handshakes);
    this.#waiting = new Places({
      total: budgets.waitingSockets,
      minimumMs: 0,
      random: Math.random,
    });
    this.#handOver = takeSockets(server, (socket) => this.#came(socket));
    server.on("secureConnection", (socket: TLSSocket) => this.#forget(connectionKey(socket)));
  }

  /** Open sockets, those that wait included. */
  get size(): number {
    return this.#sockets.size;
  }

  /** Undefined when the socket is gone. */
  clientOf(socket: TLSSocket): SocketClient | undefined {
    return this.#clients.get(connectionKey(socket));
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #came(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const address = socket.remoteAddress ?? "";
    if (!this.#isBalancer(address)) return this.#enter(socket, address);
    // It has no place yet. As many as the system hands over at once may be more than there are
    // places.
    if (this.#sockets.size > this.#budgets.connections + backlog) return this.#refuse(socket);
    this.#headers.read(socket, {
      came: (client = balancerAddress) => this.#enter(socket, client),
      refused: () => this.#refuse(socket),
    });
  }

  #enter(socket: Socket, address: string): void {
    const peer = this.#peers.of(address);
    const place = peer.admitsSocket()
      ? this.#places.enter(peer.origin, () => this.#refuse(socket))
      : undefined;
    if (place === undefined) return this.#refuse(socket);
    socket.once("close", () => place.close());
    const guest: SocketInQueue = { socket, client: { address, peer, place } };
    if (this.#waiting.size === 0 && this.#mayBegin()) this.#begin(guest);
    else this.#wait(guest);
  }

  #wait(guest: SocketInQueue): void {
    const { socket, client: { peer } } = guest;
    const newcomer = { party: peer.origin.network, holder: guest, standing: "unfinished" } as const;
    const entered = this.#waiting.enter(newcomer, this.#peers.now());
    if (entered.kind === "refused") return this.#refuse(socket);
    if (entered.displaced !== undefined) this.#refuse(entered.displaced.holder.socket);
    socket.once("close", () => this.#waiting.leave(entered.place, "finished", this.#peers.now()));
    this.#turn ??= setTimeout(() => this.#takeTurns(), turnMs);
  }

  #takeTurns(): void {
    this.#turn = undefined;
    while (this.#waiting.size > 0 && this.#mayBegin()) {
      const guest = this.#waiting.next(this.#peers.now())?.holder;
      if (guest !== undefined && !guest.socket.destroyed) this.#begin(guest);
    }
    if (this.#waiting.size > 0) this.#turn = setTimeout(() => this.#takeTurns(), turnMs);
  }

  #mayBegin(): boolean {
    return this.#handshakes.take(this.#peers.now()) === undefined;
  }

  /**
   * With a limit of its own in place of the TLS server's: Deno keeps that one's timer, and with it
   * the TLS socket, when the socket closes before.
   */
  #begin({ socket, client }: SocketInQueue): void {
    const key = connectionKey(socket);
    const timer = setTimeout(() => socket.destroy(), this.#budgets.handshakeTimeoutMs);
    this.#handshaking.set(key, timer);
    this.#clients.set(key, client);
    // Before the place is given back as one that was good for something.
    socket.prependOnceListener("close", () => {
      clearTimeout(timer);
      // The peer may have used its port again before this is told.
      if (this.#clients.get(key) === client) this.#clients.delete(key);
      if (this.#handshaking.get(key) !== timer) return;
      this.#handshaking.delete(key);
      client.place.close("unfinished");
      this.#waiting.blame(client.peer.origin.network, this.#peers.now());
    });
    this.#handOver(socket);
  }

  #forget(key: string): void {
    clearTimeout(this.#handshaking.get(key));
    this.#handshaking.delete(key);
  }

  #refuse(socket: Socket): void {
    this.#peers.socketRefused();
    socket.destroy();
  }
}

/**
 * The same for a TLS socket and the socket that it is on. With both ends: one port of a client may
 * be connected to several addresses of this machine.
 */
export function connectionKey(socket: Socket | TLSSocket): string {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
