/**
 * Rates: so much at once, and so much more with time. A bucket counts what was taken and has not
 * come back, so a full one has 0 whatever its rate, and needs no entry. A clock that is set back
 * brings nothing back and takes nothing away.
 */
import { RecentMap } from "../../proto/mod.ts";
import { networkShare, type Origin, originOf } from "./parties.ts";

export interface Rate {
  /** How much may be taken at once. */
  readonly burst: number;
  /** How much comes back in a second. */
  readonly perSecond: number;
}

/** For a caller that tells its client how far it is from the limit. */
export interface Level {
  /** A whole number, which may be taken at once. */
  readonly remaining: number;
  readonly fullInMs: number;
}

/** The sum of many fractions may miss a whole number by so much. */
const rounding = 1e-6;

/** One bucket, for a caller that holds it. */
export class Bucket {
  /** May change: the plan of an account does. */
  rate: Rate;
  #spent: number;
  #atMs: number;

  constructor(rate: Rate, spent = 0, atMs = 0) {
    this.rate = rate;
    this.#spent = spent;
    this.#atMs = atMs;
  }

  /**
   * Takes the amount, or returns how long to wait for it. An amount above the burst needs a full
   * bucket and leaves a debt.
   */
  take(nowMs: number, amount = 1): number | undefined {
    const waitMs = this.waitMs(nowMs, amount);
    if (waitMs === undefined) this.#spent += amount;
    return waitMs;
  }

  /** Returns the same as `take`, and takes nothing. */
  waitMs(nowMs: number, amount = 1): number | undefined {
    const { burst, perSecond } = this.rate;
    const excess = this.spent(nowMs) + Math.min(amount, burst) - burst;
    return excess <= rounding || amount === 0 ? undefined : Math.ceil(excess * 1_000 / perSecond);
  }

  /** Takes the amount in any case, in advance if need be. */
  draw(nowMs: number, amount = 1): void {
    this.#spent = this.spent(nowMs) + amount;
  }

  /**
   * Gives back what was not used after all. The order of what time brings back and what is given
   * back does not matter.
   */
  giveBack(amount = 1): void {
    this.#spent = Math.max(0, this.#spent - amount);
  }

  look(nowMs: number): Level {
    const { burst, perSecond } = this.rate;
    const spent = this.spent(nowMs);
    return {
      remaining: Math.max(0, Math.floor(burst - spent + rounding)),
      fullInMs: Math.ceil(spent * 1_000 / perSecond),
    };
  }

  /** Returns the amount that was taken and has not come back. More than the burst is a debt. */
  spent(nowMs: number): number {
    if (nowMs > this.#atMs) {
      this.#spent = Math.max(0, this.#spent - (nowMs - this.#atMs) * this.rate.perSecond / 1_000);
    }
    this.#atMs = nowMs;
    return this.#spent;
  }
}

/** Takes the amount of every bucket, or of none: then it returns how long to wait. */
export function takeOfAll(
  buckets: readonly Bucket[],
  nowMs: number,
  amount = 1,
): number | undefined {
  let longestMs: number | undefined;
  for (const bucket of buckets) {
    const waitMs = bucket.waitMs(nowMs, amount);
    if (waitMs !== undefined && (longestMs === undefined || waitMs > longestMs)) longestMs = waitMs;
  }
  if (longestMs !== undefined) return longestMs;
  for (const bucket of buckets) bucket.draw(nowMs, amount);
  return undefined;
}

/**
 * Keys that are remembered. Each new one looks at so many of the old ones, so that no call has much
 * to do.
 */
const maxKeys = 100_000;
const looksPerKey = 4;

/** A bucket for each key. */
export class Buckets {
  readonly rate: Rate;
  readonly #buckets = new RecentMap<string, Bucket>();

  constructor(rate: Rate) {
    this.rate = rate;
  }

  /** Keys that have an entry. */
  get size(): number {
    return this.#buckets.size;
  }

  /** The bucket of this key, to take of it now: it may be forgotten later. */
  of(key: string, nowMs: number): Bucket {
    const known = this.#buckets.get(key);
    if (known === undefined) this.#makeRoom(nowMs);
    const bucket = known ?? new Bucket(this.rate);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  take(key: string, nowMs: number, amount = 1): number | undefined {
    return this.of(key, nowMs).take(nowMs, amount);
  }

  /** Returns the same as `take`, and takes nothing. */
  waitMs(key: string, nowMs: number, amount = 1): number | undefined {
    return this.#buckets.get(key)?.waitMs(nowMs, amount);
  }

  /** Gives back what was not used after all. */
  giveBack(key: string, nowMs: number, amount = 1): void {
    const bucket = this.#buckets.get(key);
    bucket?.giveBack(amount);
    if (bucket?.spent(nowMs) === 0) this.#buckets.delete(key);
  }

  look(key: string, nowMs: number): Level {
    return this.#buckets.get(key)?.look(nowMs) ??
      { remaining: Math.floor(this.rate.burst), fullInMs: 0 };
  }

  /**
   * Forgets the oldest ones that are full again; without any, the one that was unused for longest.
   */
  #makeRoom(nowMs: number): void {
    let looks = looksPerKey;
    for (const key of this.#buckets.keys()) {
      if (looks-- === 0) break;
      if (this.#buckets.get(key)?.spent(nowMs) === 0) this.#buckets.delete(key);
    }
    if (this.#buckets.size < maxKeys) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

/**
 * Buckets of client addresses: each takes of its prefix and of the network around it, or of
 * neither.
 */
export class AddressBuckets {
  readonly #prefixes: Buckets;
  readonly #networks: Buckets;

  constructor({ burst, perSecond }: Rate) {
    this.#prefixes = new Buckets({ burst, perSecond });
    this.#networks = new Buckets({
      burst: networkShare * burst,
      perSecond: networkShare * perSecond,
    });
  }

  take(address: string | Origin, nowMs: number, amount = 1): number | undefined {
    return takeOfAll(this.of(address, nowMs), nowMs, amount);
  }

  giveBack(address: string | Origin, nowMs: number, amount = 1): void {
    const { prefix, network } = toOrigin(address);
    this.#prefixes.giveBack(prefix, nowMs, amount);
    this.#networks.giveBack(network, nowMs, amount);
  }

  look(address: string, nowMs: number): Level {
    const { prefix, network } = originOf(address);
    const ofPrefix = this.#prefixes.look(prefix, nowMs);
    const ofNetwork = this.#networks.look(network, nowMs);
    return {
      remaining: Math.min(ofPrefix.remaining, ofNetwork.remaining),
      fullInMs: Math.max(ofPrefix.fullInMs, ofNetwork.fullInMs),
    };
  }

  /**
   * The buckets of its prefix and, for IPv6, of its network, to take of them now. Each `within` has
   * its own.
   */
  of(address: string | Origin, nowMs: number, within = ""): readonly Bucket[] {
    const { prefix, network } = toOrigin(address);
    const ofPrefix = this.#prefixes.of(`${within}${prefix}`, nowMs);
    return network === prefix
      ? [ofPrefix]
      : [ofPrefix, this.#networks.of(`${within}${network}`, nowMs)];
  }
}

function toOrigin(address: string | Origin): Origin {
  return typeof address === "string" ? originOf(address) : address;
}
