/**
 * Cell sessions for browsers that can neither speak WebTransport nor stream a request: cells come
 * one by one (`CellUp`) and leave as a stream (`CellDown`). The client's 32 random bytes tie them
 * together. A broken `CellDown` ends the link.
 */
import type { EndReason } from "../core/client_link.ts";
import { SessionSockets } from "../../server/http2/mod.ts";
import { prefixOf } from "../../server/limits/mod.ts";
import type { GrpcCaller } from "./caller.ts";
import { CellQueue } from "./cell_queue.ts";
import type { GrpcDeps } from "./deps.ts";
import { admitted, endedError, ownFault, toConnectError } from "./errors.ts";
import { secretBytes, SecretMap } from "./secret_map.ts";
import type { CellPipe } from "./upstream.ts";

/** Cells that may have overtaken the one that is due: parallel requests arrive in any order. */
const maxAhead = 64;
/** A client that sends cells must also take them. */
const downWithinMs = 10_000;

export interface CellUp {
  readonly link: Uint8Array;
  readonly index: bigint;
  readonly cell: Uint8Array;
}

export class CellLinks {
  readonly #deps: GrpcDeps;
  readonly #links = new SecretMap<CellLink>();

  constructor(deps: GrpcDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#links.size;
  }

  /**
   * Resolves when the cell, and those it was waiting for, are passed on or kept. Rejects with a
   * ConnectError.
   */
  async up({ link, index, cell }: CellUp, peer: GrpcCaller): Promise<void> {
    await this.#find(link, peer).up(index, cell);
  }

  async *down(
    secret: Uint8Array,
    peer: GrpcCaller,
    signal: AbortSignal,
  ): AsyncGenerator<{ cell: Uint8Array }> {
    const link = this.#find(secret, peer);
    yield* link.down(signal);
  }

  #find(secret: Uint8Array, peer: GrpcCaller): CellLink {
    if (secret.length !== secretBytes) {
      throw invalid(`A link has ${secretBytes} bytes, not ${secret.length}`);
    }
    const found = this.#links.find(secret);
    if (found !== undefined) {
      found.carriedBy(peer);
      return found;
    }
    const end = this.#links.findEnd(secret);
    if (end !== undefined) {
      throw endedError(end.reason ?? { code: "transport_error", message: "The link has ended" });
    }
    const link = new CellLink(this.#deps, peer, (reason) => this.#links.end(secret, reason));
    this.#links.add(secret, link);
    return link;
  }
}

class CellLink {
  readonly #queue = new CellQueue();
  readonly #pipe: CellPipe;
  readonly #onFault: GrpcDeps["onFault"];
  readonly #onEnded: (reason: EndReason | undefined) => void;
  readonly #cancelTimer: () => void;
  /** Cells that came before their turn. */
  readonly #ahead = new Map<bigint, Uint8Array>();
  #nextIndex = 1n;
  #passing: Promise<void> | undefined;
  #ended = false;
  #downOpen = false;
  readonly #sockets = new SessionSockets();
  /** The vouches of the calls that carry the session, until it has authenticated. */
  #vouches: GrpcCaller["vouch"][] | undefined;

  constructor(
    deps: GrpcDeps,
    { remoteAddress, vouch }: GrpcCaller,
    onEnded: (reason: EndReason | undefined) => void,
  ) {
    const stranger = admitted(deps.strangers.admit(remoteAddress, (reason) => this.#lose(reason)));
    this.#vouches = [stranger.known, vouch];
    this.#onFault = deps.onFault;
    this.#onEnded = (reason) => {
      stranger.gone(reason);
      this.#sockets.end();
      onEnded(reason);
    };
    this.#pipe = deps.upstream.openCells({
      transport: "cells",
      remoteAddress: prefixOf(remoteAddress),
      write: (cells, cellBytes) => this.#queue.write(cells, cellBytes),
      authenticated: () => this.#authenticated(),
      close: (reason) => this.#end(reason),
    });
    this.#cancelTimer = deps.after(downWithinMs, () => {
      if (!this.#downOpen) {
        this.#lose({ code: "transport_error", message: "No CellDown was opened for this link" });
      }
    });
  }

  /** One more call carries it. */
  carriedBy({ vouch }: GrpcCaller): void {
    if (this.#vouches === undefined) vouch(this.#sockets);
    else if (this.#vouches.length < maxAhead) this.#vouches.push(vouch);
  }

  async up(index: bigint, cell: Uint8Array): Promise<void> {
    if (index < 1n) throw invalid("The index of cells begins with 1");
    if (index < this.#nextIndex || this.#ahead.has(index)) return;
    if (index >= this.#nextIndex + BigInt(maxAhead)) {
      throw invalid(`Cell ${index} is too far ahead: ${this.#nextIndex} has not arrived`);
    }
    // Before it is kept: a stranger may have many of them ahead.
    if (this.#loseForSize(cell)) return;
    this.#ahead.set(index, cell);
    this.#passing ??= this.#pass();
    await this.#passing;
  }

  async *down(signal: AbortSignal): AsyncGenerator<{ cell: Uint8Array }> {
    if (this.#downOpen) throw invalid("This link has a CellDown already");
    this.#downOpen = true;
    const abort = (): void => this.#lose(undefined);
    signal.addEventListener("abort", abort);
    try {
      yield* this.#queue.cells();
    } finally {
      signal.removeEventListener("abort", abort);
      abort();
    }
  }

  #authenticated(): void {
    const vouches = this.#vouches ?? [];
    this.#vouches = undefined;
    for (const vouch of vouches) vouch(this.#sockets);
  }

  /** Cells in their order, for as long as the next one is there. */
  async #pass(): Promise<void> {
    // So that the promise is known to `up` before it is forgotten below.
    await undefined;
    try {
      await this.#passAll();
    } catch (error) {
      this.#onFault(error);
      this.#lose(ownFault);
    }
    this.#passing = undefined;
  }

  async #passAll(): Promise<void> {
    for (;;) {
      const cell = this.#ahead.get(this.#nextIndex);
      if (cell === undefined || this.#ended) return;
      this.#ahead.delete(this.#nextIndex);
      this.#nextIndex++;
      if (this.#loseForSize(cell)) return;
      const busy = this.#pipe.receive(cell);
      if (busy !== undefined) await busy;
    }
  }

  /**
   * Nothing is sent between the challenge and its reply, so on arrival too a cell has the session's
   * size.
   */
  #loseForSize({ length }: Uint8Array): boolean {
    if (length === this.#pipe.cellBytes) return false;
    const message = `A cell has ${length} bytes, this session's have ${this.#pipe.cellBytes}`;
    this.#lose({ code: "protocol_error", message });
    return true;
  }

  /** The upstream said all it had to say. */
  #end(reason: EndReason | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelTimer();
    this.#ahead.clear();
    this.#queue.end(reason);
    this.#onEnded(reason);
  }

  /** The client is gone or broke the rules. */
  #lose(reason: EndReason | undefined): void {
    if (this.#ended) return;
    this.#end(reason);
    this.#pipe.lost();
    if (reason === undefined) this.#queue.abort();
  }
}

function invalid(message: string): Error {
  return toConnectError({ code: "invalid_request", message });
}
