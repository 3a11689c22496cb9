/** Plays a client against one connection in memory, frame by frame, on simulated time. */
import { HpackDecoder } from "../../../proto/http2/mod.ts";
import {
  type Budgets,
  Connection,
  defaultBudgets,
  type Handler,
  type PeerBudget,
  PeerBudgets,
  type ServerRequest,
  type ServerResponse,
  type SocketPlace,
  SocketPlaces,
} from "../../../server/http2/mod.ts";
import {
  concat,
  describe,
  flag,
  parseFrames,
  preface,
  settings,
  settingsAck,
  type,
  type WireFrame,
} from "./wire.ts";

export interface PeerOptions {
  readonly handler?: Handler;
  readonly budgets?: Partial<Budgets>;
  /** Its requests are not those of a member. */
  readonly stranger?: boolean;
  /** With other connections: what its address may cost, and the clock. */
  readonly shared?: { readonly peer: PeerBudget; readonly clock: { nowMs: number } };
}

export class Peer {
  readonly connection: Connection;
  readonly requests: ServerRequest[] = [];
  readonly faults: unknown[] = [];
  /**
   * Bytes that the socket pretends not to have sent yet; above `acceptedBytes` it asks the writer
   * to wait.
   */
  queuedBytes = 0;
  acceptedBytes = Number.POSITIVE_INFINITY;
  ended = false;
  destroyed = false;
  readonly #clock: { nowMs: number };
  readonly #tasks: (() => void)[] = [];
  readonly #decoder = new HpackDecoder(1_000_000);
  #received: Uint8Array = new Uint8Array(0);

  constructor({ handler = okHandler, budgets = {}, stranger = false, shared }: PeerOptions = {}) {
    this.#clock = shared?.clock ?? { nowMs: 0 };
    const all = { ...defaultBudgets, ...budgets };
    const now = (): number => this.nowMs;
    const peer = shared?.peer ?? new PeerBudgets(all, now).of("192.0.2.1");
    this.connection = new Connection({
      write: (chunk) => {
        if (this.ended || this.destroyed) throw new Error("written after the end");
        this.#received = concat(this.#received, chunk);
        this.queuedBytes += Number.isFinite(this.acceptedBytes) ? chunk.length : 0;
        return this.queuedBytes <= this.acceptedBytes;
      },
      queuedBytes: () => this.queuedBytes,
      end: () => this.ended = true,
      destroy: () => this.destroyed = true,
    }, {
      handler: (request) => {
        this.requests.push(request);
        return handler(request);
      },
      budgets: all,
      now,
      peer,
      place: placeOf(peer, all),
      standingOf: () => stranger ? "stranger" : "member",
      defer: (task) => this.#tasks.push(task),
      onFault: (error) => this.faults.push(error),
      remoteAddress: "192.0.2.1",
    });
  }

  /** A peer that has exchanged prefaces and settings; what the server said so far is read. */
  static connected(options?: PeerOptions): Peer {
    const peer = new Peer(options);
    peer.send(preface, settings(), settingsAck);
    peer.read();
    return peer;
  }

  send(...frames: readonly Uint8Array[]): void {
    this.connection.receive(concat(...frames));
  }

  /** Lets handlers run, then returns the server's output since the last time. */
  async settled(): Promise<WireFrame[]> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.read();
  }

  read(): WireFrame[] {
    for (const task of this.#tasks.splice(0)) task();
    const { frames, rest } = parseFrames(this.#received);
    this.#received = rest;
    return frames;
  }

  async conversation(): Promise<string[]> {
    return (await this.settled()).map(describe);
  }

  /** The socket took everything and has room again. */
  drain(): void {
    this.queuedBytes = 0;
    this.connection.drained();
  }

  get nowMs(): number {
    return this.#clock.nowMs;
  }

  /** Lets time pass, in ticks of a second. */
  wait(seconds: number): void {
    for (let i = 0; i < seconds; i++) {
      this.#clock.nowMs += 1_000;
      this.connection.tick(this.nowMs);
    }
  }

  /** Fields of a HEADERS frame; every one must be decoded, in order. */
  fields(frame: WireFrame): Record<string, string> {
    if (frame.type !== type.HEADERS || (frame.flags & flag.END_HEADERS) === 0) {
      throw new Error("not a whole header block");
    }
    const { fields } = this.#decoder.decode(frame.payload, 0, frame.payload.length);
    return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  }
}

/** Reads the request to its end, then answers. */
export async function okHandler(request: ServerRequest): Promise<ServerResponse> {
  for await (const _ of request.body) { /* only its end matters */ }
  return { status: 200 };
}

/** In a house of its own. */
export function placeOf({ origin }: PeerBudget, budgets: Budgets): SocketPlace {
  const place = new SocketPlaces(budgets, () => 0).enter(origin, () => {});
  if (place === undefined) throw new Error("an empty house has no place");
  return place;
}
