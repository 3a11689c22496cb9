/**
 * How many entries of one account's channels the engine works on at once. The engine serves in the
 * order in which it was asked, so an account with many senders would otherwise stand before
 * everybody else. Accounts share what the engine takes, so that who asks little waits for two
 * groups, however many ask much. Nothing is reordered within an account.
 */
import type { AccountId } from "../../../proto/mod.ts";

/**
 * Appends at once of an account that is alone. They are two groups of the engine: one is written
 * while the other collects.
 */
export const mostAtOnce = 256;
/**
 * Appends at once of all accounts, where there are several. One more has to wait for about so many.
 */
export const sharedAtOnce = 48;
/**
 * Appends at once that one account always has, however many accounts there are: fewer would make
 * groups too small to be worth a write.
 */
const leastAtOnce = 16;

interface GateQueue {
  underWay: number;
  readonly waiting: (() => void)[];
}

export class AppendGate {
  readonly #accounts = new Map<AccountId, GateQueue>();
  #underWay = 0;

  /** Entries of all accounts that the engine works on. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Runs it now, or when one before it is done. */
  async pass<Result>(account: AccountId, run: () => Promise<Result>): Promise<Result> {
    const passing = this.#accounts.get(account) ?? { underWay: 0, waiting: [] };
    this.#accounts.set(account, passing);
    // Behind those that wait, although the share may have grown meanwhile: the next one that is
    // done wakes them.
    const mustWait = passing.waiting.length > 0 || passing.underWay >= this.#share;
    if (mustWait) await new Promise<void>((resolve) => passing.waiting.push(resolve));
    else passing.underWay++;
    this.#underWay++;
    try {
      return await run();
    } finally {
      this.#underWay--;
      passing.underWay--;
      this.#wake(passing);
      if (passing.underWay === 0) this.#accounts.delete(account);
    }
  }

  get #share(): number {
    const accounts = this.#accounts.size;
    return accounts <= 1 ? mostAtOnce : Math.max(leastAtOnce, Math.floor(sharedAtOnce / accounts));
  }

  /** Wakes as many as the share has room for, which changes with the number of accounts. */
  #wake(passing: GateQueue): void {
    while (passing.underWay < this.#share) {
      const next = passing.waiting.shift();
      if (next === undefined) return;
      passing.underWay++;
      next();
    }
  }
}
