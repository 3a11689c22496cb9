/**
 * The places of open sockets, from before their TLS handshake. When all are taken they change hands
 * by the rule of `Places`, between the networks of the clients, and an address has a ceiling. A
 * socket that a member's session carries is nobody's victim and does not count for its address, so
 * an office needs places only for those who log in. A session carries few, so that one member
 * cannot hold a crowd of sockets, and only one when many are open; all of them leave a part to
 * others. Knows neither sockets nor clocks.
 */
import { networkShare, type Origin, type Place, Places, type PlaceUse } from "../limits/mod.ts";
import { balancerAddress } from "./proxy_header.ts";

/**
 * How long a newcomer is safe: a handshake and a first call take less on any line that is of use.
 */
const minimumMs = 3_000;
/** A party of members has as much as so many strangers. */
const memberWeight = 8;
/** An agent has two at most, and two more while it changes over to new ones. */
const maxCarried = 4;
/** The part of all places that sockets which sessions carry may take. */
const carriedShare = 7 / 8;
/** When more than this part of all places is taken, a session carries one socket only. */
const spareShare = 1 / 2;

export interface SocketLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
}

/** The owner of a socket. A member's is used by sessions and carried by none of them. */
type Role = "stranger" | "member" | "carried";

/** The party of all sockets that sessions carry. */
const carried = "carried";

export class SocketPlaces {
  readonly #limits: SocketLimits;
  readonly #now: () => number;
  readonly #places: Places<SocketPlace>;
  /** Counts of places that count for their addresses, by prefix. */
  readonly #prefixes = new Map<string, number>();

  constructor(limits: SocketLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#places = new Places({ total: limits.connections, minimumMs, random: Math.random });
  }

  /** Those that count for their addresses. */
  get counted(): number {
    return this.#places.size - this.#places.heldBy(carried);
  }

  /**
   * Undefined when it must be refused. `end` closes the socket, because somebody else needs its
   * place more.
   */
  enter(origin: Origin, end: () => void): SocketPlace | undefined {
    const { connectionsPerAddress } = this.#limits;
    const ofNetwork = this.#places.heldBy(origin.network) + this.#places.heldBy(membersOf(origin));
    const isAtCeiling = (this.#prefixes.get(origin.prefix) ?? 0) >= connectionsPerAddress ||
      ofNetwork >= networkShare * connectionsPerAddress;
    const place = new SocketPlace(origin, this, end);
    return !isAtCeiling && place.become("stranger") ? place : undefined;
  }

  /** Whether a session that carries so many others may carry one more. */
  mayCarry(others: number): boolean {
    const { connections } = this.#limits;
    if (this.#places.heldBy(carried) >= carriedShare * connections) return false;
    return others === 0 || this.#places.size <= spareShare * connections;
  }

  hold(place: SocketPlace): Place<SocketPlace> | undefined {
    const newcomer = { ...partyOf(place), holder: place, standing: place.standing };
    const entered = this.#places.enter(newcomer, this.#now());
    if (entered.kind === "refused") return undefined;
    this.#count(place, 1);
    entered.displaced?.holder.displaced();
    return entered.place;
  }

  stand(held: Place<SocketPlace>): void {
    this.#places.stand(held, held.holder.standing, this.#now());
  }

  release(held: Place<SocketPlace>, outcome: "finished" | "unfinished"): void {
    this.#places.leave(held, outcome, this.#now());
    this.#count(held.holder, -1);
  }

  #count({ role, origin: { prefix } }: SocketPlace, by: 1 | -1): void {
    if (role === "carried") return;
    const count = (this.#prefixes.get(prefix) ?? 0) + by;
    if (count === 0) this.#prefixes.delete(prefix);
    else this.#prefixes.set(prefix, count);
  }
}

function partyOf(
  { role, origin }: SocketPlace,
): { readonly party: string; readonly weight: number } {
  if (role === "carried") return { party: carried, weight: 1 };
  if (role === "member") return { party: membersOf(origin), weight: memberWeight };
  // A balancer's own checks decide whether this process gets clients at all.
  return { party: origin.network, weight: origin.prefix === balancerAddress ? Infinity : 1 };
}

function membersOf({ network }: Origin): string {
  return `members of ${network}`;
}

/** The place of one socket. */
export class SocketPlace {
  readonly origin: Origin;
  readonly #all: SocketPlaces;
  readonly #end: () => void;
  /** Sessions that carry it, and those that use it all the same. */
  readonly #carriers = new Set<SessionSockets>();
  readonly #users = new Set<SessionSockets>();
  #role: Role = "stranger";
  #isResting = false;
  /** Undefined when the socket is gone. */
  #held: Place<SocketPlace> | undefined;

  constructor(origin: Origin, all: SocketPlaces, end: () => void) {
    this.origin = origin;
    this.#all = all;
    this.#end = end;
  }

  get role(): Role {
    return this.#role;
  }

  get isOpen(): boolean {
    return this.#held !== undefined;
  }

  /** A stranger's call may be one that never ends. */
  get standing(): PlaceUse {
    if (this.#role === "carried") return "busy";
    if (this.#isResting) return "idle";
    return this.#role === "member" ? "kept" : "unfinished";
  }

  /** Returns whether it has a place, which one that has had a place always has. */
  become(role: Role): boolean {
    if (this.#held !== undefined) this.#all.release(this.#held, "finished");
    this.#role = role;
    this.#held = this.#all.hold(this);
    return this.#held !== undefined;
  }

  /** Calls are under way. */
  serves(): void {
    this.#rest(false);
  }

  /** The last call under way has ended. */
  rests(): void {
    this.#rest(true);
  }

  #rest(isResting: boolean): void {
    this.#isResting = isResting;
    if (this.#held !== undefined) this.#all.stand(this.#held);
  }

  /**
   * Returns whether the session, which carries so many others, carries this one too from now on.
   * Without, the session uses it.
   */
  usedBy(session: SessionSockets, carries: number): boolean {
    const isCarried = carries < maxCarried &&
      (this.#role === "carried" || this.#all.mayCarry(carries));
    if (isCarried) this.#users.delete(session);
    (isCarried ? this.#carriers : this.#users).add(session);
    this.#settle();
    return isCarried;
  }

  droppedBy(session: SessionSockets): void {
    this.#carriers.delete(session);
    this.#users.delete(session);
    this.#settle();
  }

  #settle(): void {
    const role = this.#carriers.size > 0 ? "carried" : this.#users.size > 0 ? "member" : "stranger";
    if (role !== this.#role) this.become(role);
  }

  displaced(): void {
    this.close();
    this.#end();
  }

  /** The socket is gone. `unfinished`: in its handshake. */
  close(outcome: "finished" | "unfinished" = "finished"): void {
    if (this.#held !== undefined) this.#all.release(this.#held, outcome);
    this.#held = undefined;
    for (const sessions of [this.#carriers, this.#users]) {
      for (const session of sessions) session.closed(this);
      sessions.clear();
    }
  }
}

/** The sockets of one session that has authenticated, until it ends. */
export class SessionSockets {
  /** Sockets that the session carries, and (`#others`) those beyond. */
  readonly #carried = new Set<SocketPlace>();
  readonly #others = new Set<SocketPlace>();
  #isOver = false;

  /** The session uses this socket, and carries it if it may. */
  carry(place: SocketPlace): void {
    if (this.#isOver || !place.isOpen || this.#carried.has(place)) return;
    const isCarried = place.usedBy(this, this.#carried.size);
    (isCarried ? this.#carried : this.#others).add(place);
    if (isCarried) this.#others.delete(place);
  }

  closed(place: SocketPlace): void {
    this.#carried.delete(place);
    this.#others.delete(place);
  }

  /** Sockets that are still open are a stranger's again. */
  end(): void {
    this.#isOver = true;
    for (const place of [...this.#carried, ...this.#others]) place.droppedBy(this);
    this.#carried.clear();
    this.#others.clear();
  }
}
