/**
 * How many entries of one account's channels the engine works on at once. The engine serves in the order in which it was asked,
 * so an account with many senders would otherwise stand before everybody else. Nothing is reordered within an account.
 */
import type { AccountId } from "../../proto/mod.ts";

/** Two groups of the engine: one is written while the other collects. */
const mostAtOnce = 256;

interface Passing {
  underWay: number;
  readonly waiting: (() => void)[];
}

export class AppendGate {
  readonly #accounts = new Map<AccountId, Passing>();
  #underWay = 0;

  /** What the engine works on, of all accounts. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Runs it now, or when one before it is done. */
  async pass<Result>(account: AccountId, run: () => Promise<Result>): Promise<Result> {
    const passing = this.#accounts.get(account) ?? { underWay: 0, waiting: [] };
    this.#accounts.set(account, passing);
    if (passing.underWay >= mostAtOnce) await new Promise<void>((resolve) => passing.waiting.push(resolve));
    else passing.underWay++;
    this.#underWay++;
    try {
      return await run();
    } finally {
      this.#underWay--;
      const next = passing.waiting.shift();
      if (next === undefined) passing.underWay--;
      else next();
      if (passing.underWay === 0) this.#accounts.delete(account);
    }
  }
}
