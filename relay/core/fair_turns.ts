/**
 * Fair scheduling between accounts. One turn of the event loop begins a limited amount of work, by estimate. Further
 * work waits, each account in a queue of its own, and the next turn serves the accounts in rounds. So accounts that ask
 * little never wait for those that ask much, and an account that is alone has everything. Nothing here reorders the
 * requests of one account.
 */

/** Microseconds of work, by estimate. */
export type Cost = number;

export interface FairTurnsOptions {
  /** Runs when everything that waits for the event loop has had its turn. */
  readonly soon: (run: () => void) => void;
  /** Work that one turn begins. */
  readonly turnCost?: Cost;
  /** Work that one account gets before the next has its turn. */
  readonly shareCost?: Cost;
}

interface Waiting {
  readonly cost: Cost;
  readonly start: () => void;
}

interface Lane {
  readonly waiting: Waiting[];
  /** Rest of its share; carried over, so that a large request has its turn after some rounds. */
  credit: Cost;
}

export class FairTurns {
  readonly #soon: (run: () => void) => void;
  readonly #turnCost: Cost;
  readonly #shareCost: Cost;
  /** Accounts with something to do, in the order of their turns. */
  readonly #lanes = new Map<string, Lane>();
  #spent: Cost = 0;
  #isTurning = false;

  constructor({ soon, turnCost = 4_000, shareCost = 500 }: FairTurnsOptions) {
    this.#soon = soon;
    this.#turnCost = turnCost;
    this.#shareCost = shareCost;
  }

  /** Requests and parts of requests that wait. */
  get waiting(): number {
    let waiting = 0;
    for (const lane of this.#lanes.values()) waiting += lane.waiting.length;
    return waiting;
  }

  /** Undefined when the work may begin at once, else a promise of its turn. */
  take(account: string, cost: Cost): Promise<void> | undefined {
    const lane = this.#lanes.get(account);
    if (lane === undefined && this.#spent < this.#turnCost) {
      this.#spend(cost);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { cost, start: resolve };
    if (lane === undefined) this.#lanes.set(account, { waiting: [waiting], credit: 0 });
    else lane.waiting.push(waiting);
    this.#turnSoon();
    return promise;
  }

  #spend(cost: Cost): void {
    this.#spent += cost;
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
   * Rounds over the accounts until the turn is full. The account that had the last share is the last of the next turn.
   */
  #turn(): void {
    this.#spent = 0;
    while (this.#spent < this.#turnCost) {
      const next = this.#lanes.entries().next().value;
      if (next === undefined) return;
      const [account, lane] = next;
      this.#lanes.delete(account);
      this.#serve(lane);
      if (lane.waiting.length > 0) this.#lanes.set(account, lane);
    }
    this.#turnSoon();
  }

  #serve(lane: Lane): void {
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
