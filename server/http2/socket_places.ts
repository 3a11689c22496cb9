/**
 * The places of open sockets, from before their TLS handshake. When all are taken they change hands by the rule of `Places`, between the
 * networks of the clients, and an address has a ceiling. A socket that a member's session carries is nobody's victim and does not count
 * for its address, so an office needs places only for those who log in. A session carries few, so that one member cannot hold a crowd of
 * sockets, and only one when many are open; all of them leave a part to others. Knows neither sockets nor clocks.
 */
import { networkShare, type Origin, type Place, Places, type Standing } from "../limits/mod.ts";
import { balancerAddress } from "./proxy_header.ts";

/** How long a newcomer is safe: a handshake and a first call take less on any line that is of use. */
const minimumMs = 3_000;
/** A party of members has as much as so many strangers. */
const memberWeight = 8;
/** An agent has two at most, and two more while it changes over to new ones. */
const maxCarried = 4;
/** Of all places: so many may be of sockets that sessions carry. */
const carriedShare = 7 / 8;
/** Of all places: when so many are taken, a session carries one socket only. */
const spareShare = 1 / 2;

export interface SocketLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
}

type Held = Place<SocketPlace>;

export class SocketPlaces {
  readonly #limits: SocketLimits;
  readonly #now: () => number;
  readonly #places: Places<SocketPlace>;
  /** How many of `#places` are of each prefix. */
  readonly #prefixes = new Map<string, number>();
  #carried = 0;

  constructor(limits: SocketLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#places = new Places({ total: limits.connections, minimumMs, random: Math.random });
  }

  /** Those that count for their addresses. */
  get counted(): number {
    return this.#places.size;
  }

  /** Undefined when it must be refused. `end` closes the socket, because somebody else needs its place more. */
  enter(origin: Origin, end: () => void): SocketPlace | undefined {
    const { connectionsPerAddress } = this.#limits;
    const ofNetwork = this.#places.heldBy(origin.network) + this.#places.heldBy(membersOf(origin));
    const isAtCeiling = this.#ofPrefix(origin) >= connectionsPerAddress ||
      ofNetwork >= networkShare * connectionsPerAddress;
    const place = new SocketPlace(origin, this, end);
    return !isAtCeiling && place.enter() ? place : undefined;
  }

  /** Counts it for its address, whatever the ceiling is. */
  hold(place: SocketPlace, standing: Standing): Held | undefined {
    const { origin, isMember } = place;
    const { prefix } = origin;
    const party = isMember ? membersOf(origin) : origin.network;
    // A balancer's own checks decide whether this process gets clients at all.
    const weight = prefix === balancerAddress ? Infinity : isMember ? memberWeight : 1;
    const newcomer = { party, holder: place, standing, weight, leaves: this.#carried };
    const entered = this.#places.enter(newcomer, this.#now());
    if (entered.kind === "refused") return undefined;
    this.#prefixes.set(prefix, this.#ofPrefix(origin) + 1);
    entered.displaced?.holder.displaced();
    return entered.place;
  }

  stand(held: Held, standing: Standing): void {
    this.#places.stand(held, standing, this.#now());
  }

  release(held: Held, outcome: "finished" | "unfinished"): void {
    const { origin } = held.holder;
    const left = this.#ofPrefix(origin) - 1;
    if (left === 0) this.#prefixes.delete(origin.prefix);
    else this.#prefixes.set(origin.prefix, left);
    this.#places.leave(held, outcome, this.#now());
  }

  /** Returns whether it is carried from now on, by a session that carries so many others. */
  carry(held: Held, others: number): boolean {
    const { connections } = this.#limits;
    if (this.#carried >= carriedShare * connections) return false;
    if (others > 0 && this.#places.size + this.#carried > spareShare * connections) return false;
    this.release(held, "finished");
    this.#carried++;
    return true;
  }

  drop(): void {
    this.#carried--;
  }

  #ofPrefix({ prefix }: Origin): number {
    return this.#prefixes.get(prefix) ?? 0;
  }
}

/** Sockets that members use beyond those that their sessions carry. */
function membersOf({ network }: Origin): string {
  return `members of ${network}`;
}

/** How a socket counts: for its address, as carried by these sessions, or not, because it is gone. */
type Counted =
  | { readonly kind: "own"; readonly held: Held }
  | { readonly kind: "carried"; readonly by: Set<SessionSockets> }
  | { readonly kind: "gone" };

const gone: Counted = { kind: "gone" };

/** Of one socket. */
export class SocketPlace {
  readonly origin: Origin;
  readonly #all: SocketPlaces;
  readonly #end: () => void;
  #isMember = false;
  #standing: Standing = "unfinished";
  #counted: Counted = gone;

  constructor(origin: Origin, all: SocketPlaces, end: () => void) {
    this.origin = origin;
    this.#all = all;
    this.#end = end;
  }

  /** Returns whether it counts for its address from now on. */
  enter(): boolean {
    const held = this.#all.hold(this, this.#standing);
    this.#counted = held === undefined ? gone : { kind: "own", held };
    return held !== undefined;
  }

  get isMember(): boolean {
    return this.#isMember;
  }

  /** A member uses it, whether a session carries it or not. */
  vouched(): void {
    if (this.#isMember) return;
    this.#isMember = true;
    this.serves();
    if (this.#counted.kind !== "own") return;
    this.#all.release(this.#counted.held, "finished");
    this.enter();
  }

  /** Calls are under way: a stranger's may be one that never ends. */
  serves(): void {
    this.#stand(this.#isMember ? "kept" : "unfinished");
  }

  /** The last call under way has ended. */
  rests(): void {
    this.#stand("idle");
  }

  #stand(standing: Standing): void {
    if (standing === this.#standing) return;
    this.#standing = standing;
    if (this.#counted.kind === "own") this.#all.stand(this.#counted.held, standing);
  }

  /** Returns whether the session, which carries so many others, carries this one too from now on. */
  carriedBy(session: SessionSockets, others: number): boolean {
    const counted = this.#counted;
    if (counted.kind === "gone" || (counted.kind === "own" && !this.#all.carry(counted.held, others))) return false;
    if (counted.kind === "carried") counted.by.add(session);
    else this.#counted = { kind: "carried", by: new Set([session]) };
    return true;
  }

  /** It has left a place behind, so there is one for it. */
  droppedBy(session: SessionSockets): void {
    if (this.#counted.kind !== "carried" || !this.#counted.by.delete(session) || this.#counted.by.size > 0) return;
    this.#isMember = false;
    this.#all.drop();
    this.enter();
  }

  displaced(): void {
    this.close();
    this.#end();
  }

  /** The socket is gone. `unfinished`: in its handshake. */
  close(outcome: "finished" | "unfinished" = "finished"): void {
    const counted = this.#counted;
    this.#counted = gone;
    if (counted.kind === "own") this.#all.release(counted.held, outcome);
    if (counted.kind !== "carried") return;
    this.#all.drop();
    for (const session of counted.by) session.closed(this);
  }
}

/** The sockets of one session that has authenticated, until it ends. */
export class SessionSockets {
  readonly #places = new Set<SocketPlace>();
  #isOver = false;

  /** Of a socket that it carries already, and of one too many, nothing changes. */
  carry(place: SocketPlace): void {
    if (this.#isOver || this.#places.has(place) || this.#places.size >= maxCarried) return;
    if (place.carriedBy(this, this.#places.size)) this.#places.add(place);
  }

  closed(place: SocketPlace): void {
    this.#places.delete(place);
  }

  /** Sockets that are still open count for their addresses again. */
  end(): void {
    this.#isOver = true;
    for (const place of this.#places) place.droppedBy(this);
    this.#places.clear();
  }
}
