/**
 * Where sockets come in: counted, paced and refused before TLS has begun to work for them. Sockets that come faster than
 * handshakes may begin wait here, and addresses take turns. A balancer's sockets say first whose they are, and count for that client.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Bucket, networkOf } from "../limits/mod.ts";
import { Admission } from "./admission.ts";
import { AwaitedHeaders } from "./awaited_headers.ts";
import type { Budgets } from "./budgets.ts";
import { takeSockets, type TlsServer } from "./incoming_sockets.ts";
import { balancerAddress, type PeerBudgets } from "./peer_budgets.ts";
import { SocketPlace } from "./session_sockets.ts";
import { WaitingRoom } from "./waiting_room.ts";

export interface DoorParts {
  readonly budgets: Budgets;
  readonly peers: PeerBudgets;
  readonly isBalancer: (address: string) => boolean;
}

/** At the other end of a socket. */
export interface Client {
  /** Its own, also behind a balancer. */
  readonly address: string;
  readonly place: SocketPlace;
}

interface Guest {
  readonly socket: Socket;
  readonly client: Client;
}

const turnMs = 20;

export class Door {
  readonly #budgets: Budgets;
  readonly #peers: PeerBudgets;
  readonly #isBalancer: (address: string) => boolean;
  readonly #headers: AwaitedHeaders;
  readonly #admission: Admission;
  readonly #handshakes: Bucket;
  readonly #waiting: WaitingRoom<Guest>;
  readonly #sockets = new Set<Socket>();
  /** By `connectionKey`: TLS sockets do not tell which socket they are on, and behind a balancer have its address. */
  readonly #clients = new Map<string, Client>();
  /** Ends handshakes that are late, by `connectionKey` too. */
  readonly #handshaking = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #handOver: (socket: Socket) => void;
  #turn: ReturnType<typeof setTimeout> | undefined;

  /** Stands before what `node:https` does with a new socket. */
  constructor(server: TlsServer, { budgets, peers, isBalancer }: DoorParts) {
    this.#budgets = budgets;
    this.#peers = peers;
    this.#isBalancer = isBalancer;
    this.#headers = new AwaitedHeaders(budgets);
    this.#admission = new Admission(budgets);
    this.#handshakes = new Bucket(budgets.handshakes);
    this.#waiting = new WaitingRoom({ perKey: budgets.waitingSocketsPerAddress, inAll: budgets.waitingSockets });
    this.#handOver = takeSockets(server, (socket) => this.#came(socket));
    server.on("secureConnection", (socket: TLSSocket) => this.#forget(connectionKey(socket)));
  }

  /** Open sockets, those that wait included. */
  get size(): number {
    return this.#sockets.size;
  }

  /** Undefined when the socket is gone. */
  clientOf(socket: TLSSocket): Client | undefined {
    return this.#clients.get(connectionKey(socket));
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #came(socket: Socket): void {
    if (this.#sockets.size >= this.#budgets.connections) return this.#refuse(socket);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const address = socket.remoteAddress ?? "";
    if (!this.#isBalancer(address)) return this.#enter(socket, address);
    this.#headers.read(socket, {
      came: (client = balancerAddress) => this.#enter(socket, client),
      refused: () => this.#refuse(socket),
    });
  }

  #enter(socket: Socket, address: string): void {
    const leave = this.#peers.admitsSocket(address) ? this.#admission.admit(address) : undefined;
    if (leave === undefined) return this.#refuse(socket);
    const place = new SocketPlace(leave, this.#admission.countsOf(address));
    socket.once("close", () => place.close());
    const guest: Guest = { socket, client: { address, place } };
    if (this.#waiting.size === 0 && this.#mayBegin()) return this.#begin(guest);
    const giveUp = this.#waiting.enter(networkOf(address), guest);
    if (giveUp === undefined) return this.#refuse(socket);
    socket.once("close", giveUp);
    this.#turn ??= setTimeout(() => this.#takeTurns(), turnMs);
  }

  #takeTurns(): void {
    this.#turn = undefined;
    while (this.#waiting.size > 0 && this.#mayBegin()) {
      const guest = this.#waiting.next();
      if (guest !== undefined) this.#begin(guest);
    }
    if (this.#waiting.size > 0) this.#turn = setTimeout(() => this.#takeTurns(), turnMs);
  }

  #mayBegin(): boolean {
    return this.#handshakes.take(this.#peers.now()) === undefined;
  }

  /** With a limit of its own in place of the TLS server's: Deno keeps that one's timer, and with it the TLS socket, when the socket closes before. */
  #begin({ socket, client }: Guest): void {
    const key = connectionKey(socket);
    const timer = setTimeout(() => socket.destroy(), this.#budgets.handshakeTimeoutMs);
    this.#handshaking.set(key, timer);
    this.#clients.set(key, client);
    socket.once("close", () => {
      clearTimeout(timer);
      // The peer may have used its port again before this is told.
      if (this.#handshaking.get(key) === timer) this.#handshaking.delete(key);
      if (this.#clients.get(key) === client) this.#clients.delete(key);
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
 * The same for a TLS socket and the socket that it is on. With both ends: one port of a client may be connected to several addresses
 * of this machine.
 */
export function connectionKey(socket: Socket | TLSSocket): string {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
