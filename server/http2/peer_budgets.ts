/**
 * Budgets of addresses, over all connections of each, and of all addresses together. Connections
 * that the application has vouched for are members; all others are strangers, and have much less.
 * An address that goes on above its budget is an offender: its strangers are closed and refused for
 * a while. An IPv6 address is a /64, and the /56 around it has four times as much, whatever number
 * of its networks are used.
 */
import {
  AddressBuckets,
  Buckets,
  type Origin,
  originOf,
  type Place,
  Places,
  SharedRate,
} from "../limits/mod.ts";
import type { Budgets } from "./budgets.ts";
import type { RequestStanding } from "./handler.ts";
import { balancerAddress } from "./proxy_header.ts";

export interface PeerStats {
  /** Calls of strangers that were answered with 429, or lost their places. */
  readonly refusedCalls: number;
  /** Sockets that were closed because they were too many, too fast, or of an offender. */
  readonly refusedSockets: number;
  /** How often an address became an offender. */
  readonly offences: number;
}

/** How long a stranger's call is safe. */
const minimumMs = 3_000;
/**
 * Handlers that go on for a moment after their place was given to somebody else, as a part of the
 * places for strangers' calls.
 */
const endingShare = 1 / 4;

export class PeerBudgets {
  readonly budgets: Budgets;
  readonly now: () => number;
  readonly sockets: AddressBuckets;
  readonly calls: AddressBuckets;
  readonly checks: AddressBuckets;
  readonly strangerResets: AddressBuckets;
  readonly strangerFrames: AddressBuckets;
  readonly memberResets: Buckets;
  /** An address is an offender until its offence has come back. */
  readonly offences: Buckets;
  readonly callsInAll: SharedRate;
  readonly checksInAll: SharedRate;
  readonly resetsInAll: SharedRate;
  /** Calls of strangers under way, each with how to end it. */
  readonly #underWay: Places<() => void>;
  /** Those whose handlers have not ended: for a moment also some that lost their places. */
  readonly #running = new Set<Place<() => void>>();
  readonly #stats = { refusedCalls: 0, refusedSockets: 0, offences: 0 };

  /** `lagMs` tells how late the process is: strangers are the first to have less. */
  constructor(budgets: Budgets, now: () => number, lagMs: () => number = () => 0) {
    this.budgets = budgets;
    this.now = now;
    this.sockets = new AddressBuckets(budgets.socketsPerAddress);
    this.calls = new AddressBuckets(budgets.strangerCalls);
    this.checks = new AddressBuckets(budgets.checks);
    this.strangerResets = new AddressBuckets(budgets.strangerResets);
    this.strangerFrames = new AddressBuckets(budgets.strangerControlFrames);
    this.memberResets = new Buckets(budgets.memberResets);
    this.offences = new Buckets({ burst: 1, perSecond: 1_000 / budgets.offenderMs });
    const room = (): number => roomAt(lagMs());
    this.callsInAll = new SharedRate(budgets.strangerCallsInAll, now, room);
    this.checksInAll = new SharedRate(budgets.checksInAll, now, room);
    this.resetsInAll = new SharedRate(budgets.strangerResetsInAll, now, room);
    this.#underWay = new Places({
      total: budgets.strangerHandlers,
      minimumMs,
      random: Math.random,
    });
  }

  of(address: string): PeerBudget {
    return new PeerBudget(originOf(address), this);
  }

  /** Handlers of strangers' calls, also of streams that are gone. */
  get handlers(): number {
    return this.#running.size;
  }

  /**
   * Undefined when there is no place for it. `end` resets the call, because somebody else needs its
   * place more.
   */
  beginCall({ network: party }: Origin, end: () => void): StrangerCall | undefined {
    if (this.#running.size >= (1 + endingShare) * this.budgets.strangerHandlers) return undefined;
    const entered = this.#underWay.enter(
      { party, holder: end, standing: "unfinished" },
      this.now(),
    );
    if (entered.kind === "refused") return undefined;
    const { place, displaced } = entered;
    this.#running.add(place);
    if (displaced !== undefined) {
      this.callRefused();
      displaced.holder();
    }
    return {
      gone: () => this.#underWay.stand(place, "busy", this.now()),
      ended: () => {
        this.#running.delete(place);
        this.#underWay.leave(place, "finished", this.now());
      },
    };
  }

  socketRefused(): void {
    this.#stats.refusedSockets++;
  }

  callRefused(): void {
    this.#stats.refusedCalls++;
  }

  offended(): void {
    this.#stats.offences++;
  }

  stats(): PeerStats {
    return { ...this.#stats };
  }
}

/** Long before members notice: they are the last to be refused. */
function roomAt(lagMs: number): number {
  if (lagMs < 50) return 1;
  return lagMs < 200 ? 0.25 : 0.1;
}

/** A stranger's call that a handler works on. */
export interface StrangerCall {
  /** The call's stream is gone, and its handler goes on. */
  gone(): void;
  /** The call's handler has ended, or somebody has vouched for it. */
  ended(): void;
}

/**
 * The status of a call that must be refused, or, of those that may begin, a stranger's: others are
 * not counted.
 */
export interface CallAdmission {
  readonly refused?: 403 | 429;
  readonly call?: StrangerCall;
}

/** One address. */
export class PeerBudget {
  readonly origin: Origin;
  readonly #all: PeerBudgets;

  constructor(origin: Origin, all: PeerBudgets) {
    this.origin = origin;
    this.#all = all;
  }

  get isOffender(): boolean {
    return this.#all.offences.waitMs(this.origin.prefix, this.#all.now()) !== undefined;
  }

  /** False when a new socket of this address must be closed before it costs a handshake. */
  admitsSocket(): boolean {
    return !this.isOffender && this.#spend(this.#all.sockets);
  }

  /**
   * A balancer itself may ask for nothing but health. `end` resets a stranger's call before its
   * time.
   */
  begin(standing: RequestStanding, end: () => void): CallAdmission {
    if (this.#isBalancer && standing !== "check") return { refused: 403 };
    if (standing === "member" || (standing === "check" && this.#admitsCheck())) return {};
    const call = standing === "stranger" && this.#admitsCall()
      ? this.#all.beginCall(this.origin, end)
      : undefined;
    if (call !== undefined) return { call };
    this.#all.callRefused();
    return { refused: 429 };
  }

  /**
   * A balancer's checks take no part of what all have: they decide whether this process gets
   * clients at all.
   */
  #admitsCheck(): boolean {
    return this.#spend(this.#all.checks) &&
      (this.#isBalancer || this.#all.checksInAll.spend(this.origin.network));
  }

  #admitsCall(): boolean {
    return !this.isOffender && this.#spend(this.#all.calls) &&
      this.#all.callsInAll.spend(this.origin.network);
  }

  get #isBalancer(): boolean {
    return this.origin.prefix === balancerAddress;
  }

  /** False when there were too many. */
  spendReset(isMember: boolean): boolean {
    if (isMember) {
      return this.#all.memberResets.take(this.origin.prefix, this.#all.now()) === undefined;
    }
    return this.#spend(this.#all.strangerResets) &&
      this.#all.resetsInAll.spend(this.origin.network);
  }

  spendFrames(amount: number): boolean {
    return this.#spend(this.#all.strangerFrames, amount);
  }

  giveBackFrames(amount: number): void {
    this.#all.strangerFrames.giveBack(this.origin, this.#all.now(), amount);
  }

  offend(): void {
    if (this.#all.offences.take(this.origin.prefix, this.#all.now()) === undefined) {
      this.#all.offended();
    }
  }

  #spend(buckets: AddressBuckets, amount = 1): boolean {
    return buckets.take(this.origin, this.#all.now(), amount) === undefined;
  }
}
