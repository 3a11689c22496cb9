/**
 * What addresses may cost, whatever number of connections they use, and what all of them may cost together. Connections that
 * the application has vouched for are members; all others are strangers, and have much less. An address that goes on above its
 * budget is an offender: its strangers are closed and refused for a while.
 */
import { addressKey } from "./admission.ts";
import { type Budgets, RateBudget } from "./budgets.ts";
import { FairRate } from "./fair_rate.ts";

export interface PeerStats {
  /** Calls of strangers that were answered with 429. */
  readonly refusedCalls: number;
  /** Sockets that were closed before their handshake: too many, too fast, or of an offender. */
  readonly refusedSockets: number;
  /** How often an address became an offender. */
  readonly offences: number;
}

/** Addresses that are remembered; those beyond share one budget. */
const maxAddresses = 100_000;
/** What nobody used for this long is full again, and forgotten. */
const forgetMs = 120_000;

export class PeerBudgets {
  readonly budgets: Budgets;
  readonly now: () => number;
  readonly callsInAll: FairRate;
  readonly resetsInAll: FairRate;
  readonly #peers = new Map<string, PeerBudget>();
  /** Calls of strangers under way, and how many addresses they are of. */
  #handlers = 0;
  #busyPeers = 0;
  #refusedCalls = 0;
  #refusedSockets = 0;
  #offences = 0;

  /** `lagMs` tells how late the process is: strangers are the first to have less. */
  constructor(budgets: Budgets, now: () => number, lagMs: () => number = () => 0) {
    this.budgets = budgets;
    this.now = now;
    const room = (): number => roomAt(lagMs());
    this.callsInAll = new FairRate(budgets.strangerCallsInAll, now, room);
    this.resetsInAll = new FairRate(budgets.strangerResetsInAll, now, room);
  }

  of(address: string): PeerBudget {
    const key = addressKey(address);
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const shared = this.#peers.size < maxAddresses ? key : "";
    const peer = this.#peers.get(shared) ?? new PeerBudget(shared, this);
    this.#peers.set(shared, peer);
    return peer;
  }

  /** False when a new socket of this address must be closed before it costs a handshake. */
  admitsSocket(address: string): boolean {
    const peer = this.of(address);
    return !peer.isOffender && peer.sockets.spend();
  }

  socketRefused(): void {
    this.#refusedSockets++;
  }

  /** Whether one more call of a stranger may be under way: above half of what is there for all, in equal parts. */
  hasRoomFor({ handlers }: PeerBudget): boolean {
    const { strangerHandlers, strangerHandlersInAll: inAll } = this.budgets;
    if (handlers >= strangerHandlers || this.#handlers >= inAll) return false;
    return this.#handlers < inAll / 2 || handlers < Math.max(1, Math.floor(inAll / (this.#busyPeers + 1)));
  }

  handlerStarted(peer: PeerBudget): void {
    this.#handlers++;
    if (++peer.handlers === 1) this.#busyPeers++;
  }

  handlerEnded(peer: PeerBudget): void {
    this.#handlers--;
    if (--peer.handlers === 0) this.#busyPeers--;
  }

  callRefused(): void {
    this.#refusedCalls++;
  }

  offended(): void {
    this.#offences++;
  }

  stats(): PeerStats {
    return { refusedCalls: this.#refusedCalls, refusedSockets: this.#refusedSockets, offences: this.#offences };
  }

  tick(nowMs: number): void {
    for (const [key, peer] of this.#peers) {
      if (peer.handlers === 0 && nowMs - peer.usedAtMs >= forgetMs) this.#peers.delete(key);
    }
  }
}

/** Long before members notice: they are the last to be refused. */
function roomAt(lagMs: number): number {
  if (lagMs < 50) return 1;
  return lagMs < 200 ? 0.25 : 0.1;
}

/** One address. */
export class PeerBudget {
  readonly key: string;
  readonly sockets: RateBudget;
  readonly #all: PeerBudgets;
  readonly #calls: RateBudget;
  readonly #strangerResets: RateBudget;
  readonly #memberResets: RateBudget;
  readonly #strangerFrames: RateBudget;
  /** Calls of its strangers under way, also of streams that are gone. */
  handlers = 0;
  usedAtMs: number;
  #refusedUntilMs = 0;

  constructor(key: string, all: PeerBudgets) {
    const { budgets, now } = all;
    this.key = key;
    this.#all = all;
    this.usedAtMs = now();
    this.sockets = new RateBudget(budgets.socketsPerAddress, now);
    this.#calls = new RateBudget(budgets.strangerCalls, now);
    this.#strangerResets = new RateBudget(budgets.strangerResets, now);
    this.#memberResets = new RateBudget(budgets.memberResets, now);
    this.#strangerFrames = new RateBudget(budgets.strangerControlFrames, now);
  }

  get isOffender(): boolean {
    this.usedAtMs = this.#all.now();
    return this.usedAtMs < this.#refusedUntilMs;
  }

  /** A call of a stranger. False when it must be refused. */
  admitsCall(): boolean {
    const isAllowed = !this.isOffender && this.#all.hasRoomFor(this) && this.#calls.spend() &&
      this.#all.callsInAll.spend(this.key);
    if (!isAllowed) this.#all.callRefused();
    return isAllowed;
  }

  handlerStarted(): void {
    this.#all.handlerStarted(this);
  }

  handlerEnded(): void {
    this.#all.handlerEnded(this);
  }

  /** False when there were too many. */
  spendReset(isMember: boolean): boolean {
    if (isMember) return this.#memberResets.spend();
    return this.#strangerResets.spend() && this.#all.resetsInAll.spend(this.key);
  }

  spendFrames(amount: number): boolean {
    return this.#strangerFrames.spend(amount);
  }

  giveBackFrames(amount: number): void {
    this.#strangerFrames.giveBack(amount);
  }

  offend(): void {
    if (this.isOffender) return;
    this.#refusedUntilMs = this.usedAtMs + this.#all.budgets.offenderMs;
    this.#all.offended();
  }
}
