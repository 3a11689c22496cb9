/**
 * Memory limits of confirmations: for one account's channels, and for all. Beyond them the channels
 * that were quiet for longest lose theirs, and their members confirm again with their next
 * connection.
 */
import type { AccountId } from "../../../proto/mod.ts";
import { type CachedEntries, DeliveryCacheBudget } from "./delivery_cache.ts";

export const bytesPerAccount = 16 * 1024 * 1024;
export const bytesInAll = 128 * 1024 * 1024;

export class ConfirmationBudget {
  readonly #accounts = new Map<AccountId, DeliveryCacheBudget>();
  readonly #all: DeliveryCacheBudget;
  readonly #perAccount: number;

  constructor({ perAccount = bytesPerAccount, inAll = bytesInAll } = {}) {
    this.#perAccount = perAccount;
    this.#all = new DeliveryCacheBudget(inAll);
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  /** So much is held by this channel of the account now. */
  hold(account: AccountId, tail: CachedEntries, bytes: number): void {
    const own = this.#accounts.get(account) ?? new DeliveryCacheBudget(this.#perAccount);
    this.#accounts.set(account, own);
    own.hold(tail, bytes);
    if (own.bytes === 0) this.#accounts.delete(account);
    this.#all.hold(tail, bytes);
  }
}
