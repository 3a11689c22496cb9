/**
 * The leases of one account: which one pays for the next message, when more is needed, and how
 * much. Counts and times only; asking the API is `leased_quota.ts`. A new lease is wanted while
 * half of the last one is left, and sized for a minute at the present rate, so a busy account asks
 * once in a while and a quiet one holds little that another relay could use.
 */
import { leaseStopMarginMs } from "../../proto/api/lease.ts";
import type { Charge, ChargedAmount, HeldLease } from "../engine/engine.ts";

const sizedForMs = 60_000;
/** Shorter observations say nothing about a rate. */
const shortestObservationMs = 1_000;
const smallestLease = 100;
/**
 * Every key and relay holds one: of a month's messages they must not keep a large part from each
 * other.
 */
const smallestKeyLease = 10;
/**
 * At most this part of what is left of the month goes into one lease: the rest is for other keys,
 * guests and relays.
 */
const leaseShare = 0.1;
const largestLease = 100_000;
/** An account that sent nothing for this long gives back what it holds. */
const idleMs = 60_000;
/** Before a lease expires its last count must have reached the API, even if an append is stuck. */
const forcedMarginMs = 10_000;

export interface ActiveLease extends HeldLease {
  /** Not used from here on. */
  readonly stopAtMs: number;
  /** From here on it no longer counts as room. */
  readonly renewAtMs: number;
  /** Reservations, appended or under way. */
  taken: number;
  underWay: number;
  appended: number;
  payloadBytes: number;
  /** The part of `appended` that was reported to the API. */
  reported: number;
}

/** Whether a lease may pay for a message at this time. */
export function isUsable({ granted, expiresAtMs }: HeldLease, nowMs: number): boolean {
  return granted > 0 && nowMs < expiresAtMs - leaseStopMarginMs;
}

export class AccountLeases {
  readonly #ofKey: boolean;
  /** The messages that are left, as the API told with the last lease. */
  #left = Infinity;
  #leases: ActiveLease[] = [];
  #lastGrant = 0;
  #takenSinceRefill = 0;
  #refilledAtMs = -Infinity;
  #usedAtMs = -Infinity;

  /** `ofKey`: counted under one key of the account. */
  constructor({ ofKey = false }: { readonly ofKey?: boolean } = {}) {
    this.#ofKey = ofKey;
  }

  get active(): readonly ActiveLease[] {
    return this.#leases;
  }

  /** `left`: messages of the month that nobody holds. */
  add(lease: HeldLease, nowMs: number, left = Infinity): void {
    this.#left = left;
    const stopAtMs = lease.expiresAtMs - leaseStopMarginMs;
    const renewAtMs = stopAtMs - (stopAtMs - nowMs) / 4;
    this.#leases.push({
      ...lease,
      stopAtMs,
      renewAtMs,
      taken: 0,
      underWay: 0,
      appended: 0,
      payloadBytes: 0,
      reported: 0,
    });
    this.#lastGrant = lease.granted;
    this.#takenSinceRefill = 0;
    this.#refilledAtMs = nowMs;
    this.#usedAtMs = nowMs;
  }

  /** All of these messages from one lease: what is left of others pays for fewer. */
  take({ messages, payloadBytes }: ChargedAmount, nowMs: number): Charge | undefined {
    const lease = this.#leases.find(({ taken, granted, stopAtMs }) =>
      taken + messages <= granted && nowMs < stopAtMs
    );
    if (lease === undefined) return undefined;
    lease.taken += messages;
    lease.underWay += messages;
    this.#takenSinceRefill += messages;
    this.#usedAtMs = nowMs;
    return { leaseId: lease.leaseId, fence: lease.fence, messages, payloadBytes };
  }

  /**
   * `appended` undefined: nobody knows. It may stand and be paid for, so it stays taken; the last
   * count of the engine tells.
   */
  settle({ leaseId, messages, payloadBytes }: Charge, appended: boolean | undefined): void {
    const lease = this.#leases.find((candidate) => candidate.leaseId === leaseId);
    // One that was closed meanwhile has its final numbers from the engine.
    if (lease === undefined) return;
    lease.underWay -= messages;
    if (appended === true) {
      lease.appended += messages;
      lease.payloadBytes += payloadBytes;
    } else if (appended === false) {
      lease.taken -= messages;
    }
  }

  needsMore(nowMs: number): boolean {
    let room = 0;
    for (const { granted, taken, renewAtMs } of this.#leases) {
      if (nowMs < renewAtMs) room += granted - taken;
    }
    return room < this.#lastGrant / 2;
  }

  /** How many messages to ask for: `atOnce` at least. */
  wanted(nowMs: number, atOnce = 1): number {
    return Math.max(atOnce, this.#usual(nowMs));
  }

  #usual(nowMs: number): number {
    const observedMs = Math.max(shortestObservationMs, nowMs - this.#refilledAtMs);
    const forAMinute = Math.round(this.#takenSinceRefill * sizedForMs / observedMs);
    const most = Math.min(largestLease, leaseShare * this.#left);
    return Math.max(
      this.#ofKey ? smallestKeyLease : smallestLease,
      Math.floor(Math.min(most, forAMinute)),
    );
  }

  /**
   * Takes out the leases that are of no more use: spent, at their end, or of an account that went
   * quiet.
   */
  takeFinished(nowMs: number): ActiveLease[] {
    const idle = nowMs - this.#usedAtMs >= idleMs;
    return this.#takeOut(({ underWay, taken, granted, stopAtMs, expiresAtMs }) =>
      (underWay === 0 && (idle || taken === granted || nowMs >= stopAtMs)) ||
      nowMs >= expiresAtMs - forcedMarginMs
    );
  }

  takeAll(): ActiveLease[] {
    return this.#takeOut(() => true);
  }

  takeOne(leaseId: string): ActiveLease[] {
    return this.#takeOut((lease) => lease.leaseId === leaseId);
  }

  /** Puts back a lease that was taken out too early. */
  putBack(lease: ActiveLease): void {
    this.#leases.push(lease);
  }

  #takeOut(finished: (lease: ActiveLease) => boolean): ActiveLease[] {
    const out = this.#leases.filter(finished);
    if (out.length > 0) this.#leases = this.#leases.filter((lease) => !out.includes(lease));
    return out;
  }
}
