/**
 * The open connections of a listener: how many there may be, of all clients and of one address, and how long each may take.
 * When all places are taken, an idle connection of an address that has more than the newcomer's gives way, so that places are
 * neither held by doing nothing nor taken by asking often. Knows neither sockets nor clocks.
 */
import { RecentMap } from "../../proto/mod.ts";
import { prefixOf } from "../../server/limits/mod.ts";

export interface ConnectionLimits {
  /** Sockets, those included that are being closed. */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** From the connection to its first request's head, the handshake included. */
  readonly headMs: number;
  /** Between two requests, the next one's head included. */
  readonly idleMs: number;
  /** From a request's head to its answer, its body included. */
  readonly requestMs: number;
}

/** Enough to meet the addresses that have most; few, because a flood asks for each of its connections. */
const maxCompared = 64;
/** As many as a browser opens. */
const fewConnections = 6;

/** Values for a client that means it, on a bad network. */
export const patience = { headMs: 10_000, idleMs: 75_000, requestMs: 60_000 } as const;

export interface Connection {
  /** A request's head has arrived. */
  begin(): void;
  /** Its answer is made. */
  finish(): void;
  /** The socket is closed, by either side. */
  closed(): void;
}

interface Entry {
  readonly address: string;
  readonly end: () => void;
  /** Requests under way. */
  requests: number;
  hasServed: boolean;
  sinceMs: number;
}

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #nowMs: () => number;
  /** Those that were active longest ago come first. */
  readonly #entries = new RecentMap<Entry, undefined>();
  /** Told to close, and still holding a socket. */
  readonly #ending = new Set<Entry>();
  readonly #perAddress = new Map<string, number>();

  constructor(limits: ConnectionLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#entries.size + this.#ending.size;
  }

  /** Undefined when it must be refused. `end` closes the socket at once. */
  open(peer: string, end: () => void): Connection | undefined {
    const address = prefixOf(peer);
    const open = this.#perAddress.get(address) ?? 0;
    if (open >= this.#limits.connectionsPerAddress) return undefined;
    // One that is told to close still holds its socket for a moment, so places are made a little before they are needed.
    const { connections } = this.#limits;
    const spare = Math.floor(connections / 8);
    if (this.#entries.size + spare >= connections && !this.#makePlace(open)) return undefined;
    // Half of what is left is for addresses with few connections: a crowd must not use up the moment in which others leave.
    if (this.size + (open > fewConnections ? spare / 2 : 0) >= connections) return undefined;
    const entry: Entry = { address, end, requests: 0, hasServed: false, sinceMs: this.#nowMs() };
    this.#entries.set(entry, undefined);
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    return {
      begin: () => {
        entry.requests++;
        entry.sinceMs = this.#nowMs();
      },
      finish: () => {
        entry.requests--;
        entry.hasServed = true;
        entry.sinceMs = this.#nowMs();
        // The order is that of those that are idle.
        if (this.#entries.has(entry)) this.#entries.set(entry, undefined);
      },
      closed: () => this.#remove(entry),
    };
  }

  /** Ends those that took too long. Call it about every second. */
  tick(): void {
    const nowMs = this.#nowMs();
    for (const entry of this.#entries.keys()) {
      if (nowMs - entry.sinceMs > this.#allowedMs(entry)) this.#end(entry);
    }
  }

  /** Ends those without a request under way. */
  endIdle(): void {
    for (const entry of [...this.#entries.keys()]) if (entry.requests === 0) this.#end(entry);
  }

  endAll(): void {
    for (const entry of [...this.#entries.keys()]) this.#end(entry);
  }

  #allowedMs({ requests, hasServed }: Entry): number {
    if (requests > 0) return this.#limits.requestMs;
    return hasServed ? this.#limits.idleMs : this.#limits.headMs;
  }

  /**
   * For a newcomer whose address has `open` already. Of those idle for longest, the one whose address has most goes, if that
   * has more than twice as many: equals do not take each other's places.
   */
  #makePlace(open: number): boolean {
    let [most, loser]: [number, Entry | undefined] = [2 * open, undefined];
    for (const entry of this.#entries.keys().filter(({ requests }) => requests === 0).take(maxCompared)) {
      const count = this.#perAddress.get(entry.address) ?? 0;
      if (count > most) [most, loser] = [count, entry];
    }
    if (loser !== undefined) this.#end(loser);
    return loser !== undefined;
  }

  #end(entry: Entry): void {
    this.#entries.delete(entry);
    this.#ending.add(entry);
    entry.end();
  }

  #remove(entry: Entry): void {
    if (!this.#entries.delete(entry) && !this.#ending.delete(entry)) return;
    const open = (this.#perAddress.get(entry.address) ?? 1) - 1;
    if (open === 0) this.#perAddress.delete(entry.address);
    else this.#perAddress.set(entry.address, open);
  }
}
