/**
 * Fair scheduling between accounts. One turn of the event loop begins a limited amount of work, by
 * estimate. Further work waits, each account in a queue of its own, and the next turn serves the
 * accounts in rounds. So accounts that ask little never wait for those that ask much, and an
 * account that is alone has everything. Nothing here reorders the requests of one account.
 */

/** Microseconds of work, by estimate. */
export type WorkCost = number;

export interface FairTurnsOptions {
  /** Runs when everything that waits for the event loop has had its turn. */
  readonly soon: (run: () => void) => void;
  readonly turnCost?: WorkCost;
  readonly sharedTurnCost?: WorkCost;
  readonly shareCost?: WorkCost;
}

/** Work that one turn begins while a single account asks, unless told. */
export const turnCost: WorkCost = 4_000;
/** The same while several accounts ask: each may have to wait for the end of a turn. */
export const sharedTurnCost: WorkCost = 700;
/** Work that one account gets before the next has its turn. */
const shareCost: WorkCost = 250;

/**
 * Turns after which an account that asked once is no longer counted as one of several: some tenths
 * of a second.
 */
const rememberedTurns = 128;

/** The reserve as a part of the turn, in addition to it. */
const reserveShare = 0.5;

interface QueuedTurn {
  readonly cost: WorkCost;
  readonly start: () => void;
}

interface AccountLane {
  readonly waiting: QueuedTurn[];
  /** Rest of its share; carried over, so that a large request has its turn after some rounds. */
  credit: WorkCost;
}

export class FairTurns {
  readonly #soon: (run: () => void) => void;
  readonly #aloneCost: WorkCost;
  readonly #sharedCost: WorkCost;
  readonly #shareCost: WorkCost;
  /** Accounts with something to do, in the order of their turns. */
  readonly #lanes = new Map<string, AccountLane>();
  /** Accounts that something of this turn was begun for. */
  readonly #served = new Set<string>();
  #spent: WorkCost = 0;
  #isTurning = false;
  /**
   * The account that asked last, and for how many turns it has to be alone until it counts as that.
   */
  #last = "";
  #sharedTurns = 0;

  constructor({ soon, ...costs }: FairTurnsOptions) {
    this.#soon = soon;
    this.#aloneCost = costs.turnCost ?? turnCost;
    this.#sharedCost = Math.min(this.#aloneCost, costs.sharedTurnCost ?? sharedTurnCost);
    this.#shareCost = costs.shareCost ?? shareCost;
  }

  get #turnCost(): WorkCost {
    return this.#sharedTurns > 0 ? this.#sharedCost : this.#aloneCost;
  }

  /** Requests and parts of requests that wait. */
  get waiting(): number {
    let waiting = 0;
    for (const lane of this.#lanes.values()) waiting += lane.waiting.length;
    return waiting;
  }

  /** Undefined when the work may begin at once, else a promise of its turn. */
  take(account: string, cost: WorkCost): Promise<void> | undefined {
    if (this.#mayBegin(account, cost)) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wait(account, { cost, start: resolve });
    return promise;
  }

  /** Begins the work at once, or when it has its turn. It must not throw. */
  run(account: string, cost: WorkCost, start: () => void): void {
    if (this.#mayBegin(account, cost)) start();
    else this.#wait(account, { cost, start });
  }

  /**
   * Nothing of this account waits, and the turn has room; or it is the account's first of this
   * turn, and small.
   */
  #mayBegin(account: string, cost: WorkCost): boolean {
    if (account !== this.#last) {
      if (this.#last !== "") this.#sharedTurns = rememberedTurns;
      this.#last = account;
    }
    if (this.#lanes.has(account)) return false;
    if (this.#spent >= this.#turnCost && !this.#isFirst(account, cost)) return false;
    this.#served.add(account);
    this.#spent += cost;
    this.#turnSoon();
    return true;
  }

  /**
   * The reserve of a turn is for accounts that have had nothing of it: they need not wait for a
   * turn at all.
   */
  #isFirst(account: string, cost: WorkCost): boolean {
    return !this.#served.has(account) && this.#spent + cost <= this.#turnCost * (1 + reserveShare);
  }

  #wait(account: string, waiting: QueuedTurn): void {
    const lane = this.#lanes.get(account);
    if (lane === undefined) this.#lanes.set(account, { waiting: [waiting], credit: 0 });
    else lane.waiting.push(waiting);
    this.#turnSoon();
  }

  #turnSoon(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    this.#soon(() => {
      this.#isTurning = false;
      this.#turn();
    });
  }

  /**
   * Rounds over the accounts until the turn is full. The account that had the last share is the
   * last of the next turn.
   */
  #turn(): void {
    this.#spent = 0;
    this.#sharedTurns = Math.max(0, this.#sharedTurns - 1);
    this.#served.clear();
    while (this.#spent < this.#turnCost) {
      const next = this.#lanes.entries().next().value;
      if (next === undefined) {
        // Work that was begun counts for this turn only.
        if (this.#spent > 0) this.#turnSoon();
        return;
      }
      const [account, lane] = next;
      this.#served.add(account);
      // The lane keeps its place meanwhile: work that begins may ask for more turns, and waits
      // behind the others.
      this.#serve(lane);
      this.#lanes.delete(account);
      if (lane.waiting.length > 0) this.#lanes.set(account, lane);
    }
    this.#turnSoon();
  }

  #serve(lane: AccountLane): void {
    lane.credit += this.#shareCost;
    let started = 0;
    for (const { cost, start } of lane.waiting) {
      if (cost > lane.credit) break;
      lane.credit -= cost;
      this.#spent += cost;
      started++;
      start();
    }
    lane.waiting.splice(0, started);
  }
}
