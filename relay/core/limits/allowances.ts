/**
 * Commits and Welcomes that an account may send without paying for them. A channel needs some every
 * day, and an account that has no messages left must still be able to change its keys; beyond it
 * they carry whatever their sender likes, so they are messages. Each account has buckets that a day
 * fills. With records, they outlive the process: they are written every minute and at its end, and
 * read when an account is first seen.
 */
import { RecentMap } from "../../../proto/mod.ts";
import { Bucket, type Rate } from "../../../server/limits/mod.ts";
import type { Records } from "../../engine/engine.ts";
import type { Allowance } from "./plans.ts";

const daySeconds = 24 * 60 * 60;
const maxAccounts = 100_000;
/** Until an allowance is named. */
const unknownRate: Rate = { burst: 0, perSecond: 0 };

interface TakenAllowance {
  readonly count: Bucket;
  readonly bytes: Bucket;
  /** The revision of its record; 0 without one. */
  revision: number;
}

export class Allowances {
  readonly #accounts = new RecentMap<string, TakenAllowance>();
  /** Accounts whose allowances differ from their records. */
  readonly #changed = new Set<string>();
  readonly #records: Records | undefined;

  constructor(records?: Records) {
    this.#records = records;
  }

  /** Call it before `take`. Undefined when the buckets are in memory, else a promise of that. */
  load(account: string): Promise<void> | undefined {
    if (this.#records === undefined || this.#accounts.has(account)) return undefined;
    return this.#read(this.#records, account);
  }

  /**
   * Writes the buckets that changed. A write that fails or loses against another relay's is made
   * again at the next call.
   */
  async save(nowMs: number): Promise<void> {
    if (this.#records === undefined) return;
    for (const account of [...this.#changed]) await this.#write(this.#records, account, nowMs);
  }

  /** Whether there is room for one more of so many bytes; then it is taken. */
  take(account: string, bytes: number, allowance: Allowance, nowMs: number): boolean {
    const taken = this.#of(account);
    taken.count.rate = daily(allowance.count);
    taken.bytes.rate = daily(allowance.bytes);
    const hasRoom = taken.count.waitMs(nowMs) === undefined &&
      taken.bytes.waitMs(nowMs, bytes) === undefined;
    // A full bucket would give more than it holds.
    if (!hasRoom || bytes > allowance.bytes) return false;
    this.draw(account, bytes, nowMs);
    return true;
  }

  /** Takes it in any case, in advance if need be: of what is never refused. */
  draw(account: string, bytes: number, nowMs: number): void {
    const taken = this.#of(account);
    taken.count.draw(nowMs);
    taken.bytes.draw(nowMs, bytes);
    this.#changed.add(account);
  }

  /** Gives back an allowance that was not used after all. */
  giveBack(account: string, bytes: number): void {
    const taken = this.#accounts.get(account);
    if (taken === undefined) return;
    taken.count.giveBack();
    taken.bytes.giveBack(bytes);
    this.#changed.add(account);
  }

  #of(account: string): TakenAllowance {
    const taken = this.#accounts.get(account) ?? createTaken();
    this.#enter(account, taken);
    return taken;
  }

  #enter(account: string, taken: TakenAllowance): void {
    this.#accounts.set(account, taken);
    if (this.#accounts.size <= maxAccounts) return;
    // The one that was unused for longest begins anew, or with its record.
    for (const oldest of this.#accounts.keys()) {
      this.#accounts.delete(oldest);
      this.#changed.delete(oldest);
      break;
    }
  }

  async #read(records: Records, account: string): Promise<void> {
    const stored = await records.get(keyOf(account));
    // Another request may have read it meanwhile, and taken of it.
    if (this.#accounts.has(account)) return;
    this.#enter(account, stored === undefined ? createTaken() : decode(stored));
  }

  async #write(records: Records, account: string, nowMs: number): Promise<void> {
    const taken = this.#accounts.get(account);
    if (taken === undefined) return;
    const record = {
      value: encode(taken, nowMs),
      expiresAtMs: Math.max(0, nowMs + 1_000 * daySeconds),
    };
    this.#changed.delete(account);
    let isStored = false;
    try {
      const outcome = await records.put(keyOf(account), record, taken.revision);
      isStored = outcome.kind === "stored";
      taken.revision = outcome.kind === "stored"
        ? outcome.revision
        : (await records.get(keyOf(account)))?.revision ?? 0;
    } finally {
      if (!isStored) this.#changed.add(account);
    }
  }
}

function daily(amount: number): Rate {
  return { burst: amount, perSecond: amount / daySeconds };
}

function createTaken({ count = 0, bytes = 0, atMs = 0, revision = 0 } = {}): TakenAllowance {
  return {
    count: new Bucket(unknownRate, count, atMs),
    bytes: new Bucket(unknownRate, bytes, atMs),
    revision,
  };
}

function keyOf(account: string): string {
  return `allowance/${account}`;
}

function encode({ count, bytes }: TakenAllowance, nowMs: number): Uint8Array {
  return new Uint8Array(Float64Array.of(count.spent(nowMs), bytes.spent(nowMs), nowMs).buffer);
}

/** Nothing was taken as far as a record says that cannot be read. */
function decode(
  { value, revision }: { readonly value: Uint8Array; readonly revision: number },
): TakenAllowance {
  const [count = 0, bytes = 0, atMs = 0] = value.length === 24
    ? new Float64Array(value.slice().buffer)
    : [];
  return createTaken({ count, bytes, atMs, revision });
}
