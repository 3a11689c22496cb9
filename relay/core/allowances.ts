/**
 * Commits and Welcomes that an account may send without paying for them. A channel needs some every day, and an account that
 * has no messages left must still be able to change its keys; beyond it they carry whatever their sender likes, so they are
 * messages. Each account has a bucket that a day fills. With records, buckets outlive the process: they are written every minute
 * and at its end, and read when an account is first seen.
 */
import type { Records } from "../engine/engine.ts";
import type { Allowance } from "./plans.ts";

const dayMs = 24 * 60 * 60 * 1000;
const maxAccounts = 100_000;

interface Bucket {
  /** Amount that was taken and has not come back yet. */
  count: number;
  bytes: number;
  atMs: number;
  /** Of its record; 0 without one. */
  revision: number;
  /** It differs from its record. */
  isChanged: boolean;
}

export class Allowances {
  readonly #buckets = new Map<string, Bucket>();
  readonly #records: Records | undefined;

  constructor(records?: Records) {
    this.#records = records;
  }

  /** Call it before `take`. Undefined when the bucket is in memory, else a promise of that. */
  load(account: string, nowMs: number): Promise<void> | undefined {
    if (this.#records === undefined || this.#buckets.has(account)) return undefined;
    return this.#read(this.#records, account, nowMs);
  }

  /** Writes the buckets that changed. A write that loses against another relay's is made again at the next call. */
  async save(nowMs: number): Promise<void> {
    if (this.#records === undefined) return;
    for (const [account, bucket] of this.#buckets) {
      if (bucket.isChanged) await this.#write(this.#records, account, bucket, nowMs);
    }
  }

  /** Whether there is room for one more of so many bytes; then it is taken. */
  take(account: string, bytes: number, allowance: Allowance, nowMs: number): boolean {
    const bucket = this.#filled(account, allowance, nowMs);
    if (bucket.count + 1 > allowance.count || bucket.bytes + bytes > allowance.bytes) return false;
    this.draw(account, bytes, nowMs);
    return true;
  }

  /** Takes it in any case, in advance if need be: of what is never refused. */
  draw(account: string, bytes: number, nowMs: number): void {
    const bucket = this.#buckets.get(account) ?? emptyBucket(nowMs);
    bucket.count++;
    bucket.bytes += bytes;
    bucket.isChanged = true;
    this.#buckets.set(account, bucket);
  }

  /** It was not used after all. */
  giveBack(account: string, bytes: number): void {
    const bucket = this.#buckets.get(account);
    if (bucket === undefined) return;
    bucket.count--;
    bucket.bytes -= bytes;
    bucket.isChanged = true;
  }

  async #read(records: Records, account: string, nowMs: number): Promise<void> {
    const stored = await records.get(keyOf(account));
    // Another request may have read it meanwhile, and taken of it.
    if (this.#buckets.has(account)) return;
    const bucket = emptyBucket(nowMs);
    if (stored !== undefined) Object.assign(bucket, decode(stored.value), { revision: stored.revision });
    this.#buckets.set(account, bucket);
  }

  async #write(records: Records, account: string, bucket: Bucket, nowMs: number): Promise<void> {
    bucket.isChanged = false;
    const record = { value: encode(bucket), expiresAtMs: Math.max(0, nowMs + dayMs) };
    const outcome = await records.put(keyOf(account), record, bucket.revision);
    if (outcome.kind === "stored") {
      bucket.revision = outcome.revision;
    } else {
      bucket.revision = (await records.get(keyOf(account)))?.revision ?? 0;
      bucket.isChanged = true;
    }
  }

  /** Brings back what time brings back. A clock that was set back brings nothing. */
  #filled(account: string, { count, bytes }: Allowance, nowMs: number): Bucket {
    const bucket = this.#buckets.get(account) ?? emptyBucket(nowMs);
    const share = Math.max(0, nowMs - bucket.atMs) / dayMs;
    if (share > 0) {
      bucket.count = Math.max(0, bucket.count - share * count);
      bucket.bytes = Math.max(0, bucket.bytes - share * bytes);
    }
    bucket.atMs = nowMs;
    if (this.#buckets.size >= maxAccounts) this.#forget(nowMs);
    return bucket;
  }

  /** Full buckets first; if that is not enough, the oldest half: they begin anew, or with their records. */
  #forget(nowMs: number): void {
    for (const [account, { atMs }] of this.#buckets) if (nowMs - atMs >= dayMs) this.#buckets.delete(account);
    let excess = this.#buckets.size - maxAccounts / 2;
    if (this.#buckets.size < maxAccounts) return;
    for (const account of this.#buckets.keys()) if (excess-- > 0) this.#buckets.delete(account);
  }
}

function emptyBucket(atMs: number): Bucket {
  return { count: 0, bytes: 0, atMs, revision: 0, isChanged: false };
}

function keyOf(account: string): string {
  return `allowance/${account}`;
}

function encode({ count, bytes, atMs }: Bucket): Uint8Array {
  return new Uint8Array(Float64Array.of(count, bytes, atMs).buffer);
}

/** Nothing was taken as far as a record says that cannot be read. */
function decode(value: Uint8Array): Pick<Bucket, "count" | "bytes" | "atMs"> {
  const [count = 0, bytes = 0, atMs = 0] = value.length === 24 ? new Float64Array(value.slice().buffer) : [];
  return { count, bytes, atMs };
}
