/**
 * The open connections of a port: how many there may be, and how long each may take. When all
 * places are taken they are shared by the rule of `Places`, between the networks of the clients.
 * Knows neither sockets nor clocks.
 */
import { networkOf, type Place, Places, type PlaceUse } from "../../server/limits/mod.ts";

export interface ConnectionLimits {
  /**
   * Places. For a moment there are more sockets, a quarter at most: those of connections that lost
   * theirs and are being closed.
   */
  readonly connections: number;
  /** How long a newcomer is safe. */
  readonly minimumMs: number;
  /** From the connection to its first request's head, the handshake included. */
  readonly headMs: number;
  /** Between two requests, the next one's head included. */
  readonly idleMs: number;
  /** From a request's head to its answer, its body included. */
  readonly requestMs: number;
  /** A proxy of the operator's. */
  readonly isProxy: (address: string) => boolean;
}

/** Values for a client that means it, on a bad network. */
export const patience = {
  minimumMs: 3_000,
  headMs: 10_000,
  idleMs: 75_000,
  requestMs: 60_000,
} as const;

/** Sockets that are being closed, as a part of the places for connections. */
const closingShare = 1 / 4;

/** How many sockets there may be in all. */
export function socketsFor(connections: number): number {
  return connections + Math.ceil(connections * closingShare);
}

/** Where a request is: its body comes, we work on it, its answer is read, it is over. */
export type RequestStage = "body" | "work" | "answer" | "over";
const stages: readonly RequestStage[] = ["body", "work", "answer", "over"];

/** The other end of a connection, and this one. */
export interface ConnectionEnds {
  readonly peer: string;
  readonly local: string;
}

/**
 * Why a connection must be closed: it took too long, others need its place, or the service stops.
 */
export type CloseReason = "late" | "displaced" | "stop";

export interface TrackedConnection {
  /** A request's head has arrived. Returns how to say where it is later; it never goes back. */
  begin(stage: "body" | "work"): (stage: RequestStage) => void;
  /** The socket is closed, by either side. */
  closed(): void;
}

interface OpenConnection {
  readonly end: (why: CloseReason) => void;
  /** Undefined when it is being closed. */
  place: Place<OpenConnection> | undefined;
  /** Requests under way. */
  readonly requests: Record<Exclude<RequestStage, "over">, number>;
  hasServed: boolean;
  sinceMs: number;
}

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #nowMs: () => number;
  readonly #places: Places<OpenConnection>;
  readonly #sockets = new Set<OpenConnection>();

  constructor(
    limits: ConnectionLimits,
    { nowMs, random }: { nowMs: () => number; random: () => number },
  ) {
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#places = new Places({ total: limits.connections, minimumMs: limits.minimumMs, random });
  }

  get size(): number {
    return this.#places.size;
  }

  /** Undefined when it must be refused. `end` closes the socket at once, or after a last word. */
  open({ peer, local }: ConnectionEnds, end: OpenConnection["end"]): TrackedConnection | undefined {
    if (this.#sockets.size >= socketsFor(this.#limits.connections)) return undefined;
    const requests = { body: 0, work: 0, answer: 0 };
    const entry: OpenConnection = {
      end,
      place: undefined,
      requests,
      hasServed: false,
      sinceMs: this.#nowMs(),
    };
    // A proxy speaks for many, and this machine for its operator: both come before everybody else,
    // but their networks do not.
    const isTrusted = (peer === local && peer !== "") || this.#limits.isProxy(peer);
    const [party, weight] = isTrusted ? [`trusted ${peer}`, Infinity] : [networkOf(peer), 1];
    const newcomer = { party, holder: entry, standing: standingOf(entry), weight };
    const entered = this.#places.enter(newcomer, this.#nowMs());
    if (entered.kind === "refused") return undefined;
    entry.place = entered.place;
    this.#sockets.add(entry);
    if (entered.displaced !== undefined) this.#end(entered.displaced.holder, "displaced");
    return {
      begin: (first) => this.#begin(entry, first),
      closed: () => {
        // Browsers open connections to spare, and balancers to look: one that closes without a
        // request has left nothing behind.
        this.#leave(entry, hasRequests(entry));
        this.#sockets.delete(entry);
      },
    };
  }

  /** Ends those that took too long. Call it about every second. */
  tick(): void {
    const nowMs = this.#nowMs();
    for (const entry of this.#sockets) {
      if (entry.place !== undefined && nowMs - entry.sinceMs > this.#allowedMs(entry)) {
        this.#end(entry, "late");
      }
    }
  }

  /** Ends those without a request under way. */
  endIdle(): void {
    for (const entry of this.#sockets) if (!hasRequests(entry)) this.#end(entry, "stop");
  }

  endAll(): void {
    for (const entry of this.#sockets) this.#end(entry, "stop");
  }

  #begin(entry: OpenConnection, first: "body" | "work"): (stage: RequestStage) => void {
    let current: RequestStage = first;
    entry.sinceMs = this.#nowMs();
    entry.requests[first]++;
    this.#stand(entry);
    return (next) => {
      if (current === "over" || stages.indexOf(next) <= stages.indexOf(current)) return;
      entry.requests[current]--;
      current = next;
      if (next === "over") {
        entry.hasServed = true;
        entry.sinceMs = this.#nowMs();
      } else entry.requests[next]++;
      this.#stand(entry);
    };
  }

  #stand(entry: OpenConnection): void {
    if (entry.place !== undefined) {
      this.#places.stand(entry.place, standingOf(entry), this.#nowMs());
    }
  }

  #allowedMs(entry: OpenConnection): number {
    if (hasRequests(entry)) return this.#limits.requestMs;
    return entry.hasServed ? this.#limits.idleMs : this.#limits.headMs;
  }

  #end(entry: OpenConnection, why: CloseReason): void {
    if (entry.place === undefined) return;
    this.#leave(entry, why !== "stop");
    entry.end(why);
  }

  #leave(entry: OpenConnection, isBegun: boolean): void {
    if (entry.place === undefined) return;
    const outcome = isBegun && entry.place.standing === "unfinished" ? "unfinished" : "finished";
    this.#places.leave(entry.place, outcome, this.#nowMs());
    entry.place = undefined;
  }
}

function hasRequests({ requests: { body, work, answer } }: OpenConnection): boolean {
  return body + work + answer > 0;
}

/** One that waits for its client in anything waits for its client. */
function standingOf({ requests: { body, work, answer }, hasServed }: OpenConnection): PlaceUse {
  if (body + answer > 0) return "unfinished";
  if (work > 0) return "busy";
  return hasServed ? "idle" : "unfinished";
}
