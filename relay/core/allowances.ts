/**
 * Commits and Welcomes that an account may send without paying for them. A channel needs some every day, and an account that
 * has no messages left must still be able to change its keys; beyond it they carry whatever their sender likes, so they are
 * messages. Each account has a bucket that a day fills.
 */
import type { Allowance } from "./plans.ts";

const dayMs = 24 * 60 * 60 * 1000;
const maxAccounts = 100_000;

interface Bucket {
  /** Amount that was taken and has not come back yet. */
  count: number;
  bytes: number;
  atMs: number;
}

export class Allowances {
  readonly #buckets = new Map<string, Bucket>();

  /** Whether there is room for one more of so many bytes; then it is taken. */
  take(account: string, bytes: number, allowance: Allowance, nowMs: number): boolean {
    const bucket = this.#filled(account, allowance, nowMs);
    if (bucket.count + 1 > allowance.count || bucket.bytes + bytes > allowance.bytes) return false;
    this.draw(account, bytes, nowMs);
    return true;
  }

  /** Takes it in any case, in advance if need be: of what is never refused. */
  draw(account: string, bytes: number, nowMs: number): void {
    const bucket = this.#buckets.get(account) ?? { count: 0, bytes: 0, atMs: nowMs };
    bucket.count++;
    bucket.bytes += bytes;
    this.#buckets.set(account, bucket);
  }

  /** It was not used after all. */
  giveBack(account: string, bytes: number): void {
    const bucket = this.#buckets.get(account);
    if (bucket === undefined) return;
    bucket.count--;
    bucket.bytes -= bytes;
  }

  /** Brings back what time brings back. A clock that was set back brings nothing. */
  #filled(account: string, { count, bytes }: Allowance, nowMs: number): Bucket {
    const bucket = this.#buckets.get(account) ?? { count: 0, bytes: 0, atMs: nowMs };
    const share = Math.max(0, nowMs - bucket.atMs) / dayMs;
    if (share > 0) {
      bucket.count = Math.max(0, bucket.count - share * count);
      bucket.bytes = Math.max(0, bucket.bytes - share * bytes);
    }
    bucket.atMs = nowMs;
    if (this.#buckets.size >= maxAccounts) this.#forget(nowMs);
    return bucket;
  }

  /** Full buckets first; if that is not enough, the oldest half: they begin anew. */
  #forget(nowMs: number): void {
    for (const [account, { atMs }] of this.#buckets) if (nowMs - atMs >= dayMs) this.#buckets.delete(account);
    let excess = this.#buckets.size - maxAccounts / 2;
    if (this.#buckets.size < maxAccounts) return;
    for (const account of this.#buckets.keys()) if (excess-- > 0) this.#buckets.delete(account);
  }
}
