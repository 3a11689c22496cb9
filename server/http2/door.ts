/**
 * Where sockets come in: counted, paced and refused before TLS has begun to work for them. Sockets that come faster than
 * handshakes may begin wait here, and addresses take turns.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Bucket, networkOf } from "../limits/mod.ts";
import { Admission } from "./admission.ts";
import type { Budgets } from "./budgets.ts";
import { takeSockets, type TlsServer } from "./incoming_sockets.ts";
import type { PeerBudgets } from "./peer_budgets.ts";
import { WaitingRoom } from "./waiting_room.ts";

export interface DoorParts {
  readonly budgets: Budgets;
  readonly peers: PeerBudgets;
}

const turnMs = 20;

export class Door {
  readonly #peers: PeerBudgets;
  readonly #admission: Admission;
  readonly #handshakes: Bucket;
  readonly #waiting: WaitingRoom<Socket>;
  readonly #sockets = new Set<Socket>();
  /** Ends those that are late, by `connectionKey`: TLS sockets do not tell which socket they are on. */
  readonly #handshaking = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #handOver: (socket: Socket) => void;
  #turn: ReturnType<typeof setTimeout> | undefined;

  /** Stands before what `node:https` does with a new socket. */
  constructor(server: TlsServer, { budgets, peers }: DoorParts) {
    this.#peers = peers;
    this.#admission = new Admission(budgets);
    this.#handshakes = new Bucket(budgets.handshakes);
    this.#waiting = new WaitingRoom({ perKey: budgets.waitingSocketsPerAddress, inAll: budgets.waitingSockets });
    const handOver = takeSockets(server, (socket) => this.#came(socket));
    this.#handOver = (socket) => {
      this.#limit(socket, budgets.handshakeTimeoutMs);
      handOver(socket);
    };
    server.on("secureConnection", (socket: TLSSocket) => this.#forget(connectionKey(socket)));
  }

  /** Open sockets, those that wait included. */
  get size(): number {
    return this.#admission.total;
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #came(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const leave = this.#peers.admitsSocket(address) ? this.#admission.admit(address) : undefined;
    if (leave === undefined) return this.#refuse(socket);
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      leave();
    });
    if (this.#waiting.size === 0 && this.#mayBegin()) return this.#handOver(socket);
    const giveUp = this.#waiting.enter(networkOf(address), socket);
    if (giveUp === undefined) return this.#refuse(socket);
    socket.once("close", giveUp);
    this.#turn ??= setTimeout(() => this.#takeTurns(), turnMs);
  }

  #takeTurns(): void {
    this.#turn = undefined;
    while (this.#waiting.size > 0 && this.#mayBegin()) {
      const socket = this.#waiting.next();
      if (socket !== undefined) this.#handOver(socket);
    }
    if (this.#waiting.size > 0) this.#turn = setTimeout(() => this.#takeTurns(), turnMs);
  }

  #mayBegin(): boolean {
    return this.#handshakes.take(this.#peers.now()) === undefined;
  }

  /** In place of the TLS server's own limit: Deno keeps its timer, and with it the TLS socket, when the socket closes before. */
  #limit(socket: Socket, ms: number): void {
    const key = connectionKey(socket);
    const timer = setTimeout(() => socket.destroy(), ms);
    this.#handshaking.set(key, timer);
    socket.once("close", () => {
      clearTimeout(timer);
      // The peer may have used its port again before this is told.
      if (this.#handshaking.get(key) === timer) this.#handshaking.delete(key);
    });
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
