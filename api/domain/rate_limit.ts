/**
 * Rates of the API: buckets of `server/limits/` with the process's clock, and decisions as clients
 * are told of them.
 */
import { AddressBuckets, Buckets, type Rate } from "../../server/limits/mod.ts";
import type { Clock } from "./deps.ts";
import { Fault } from "./fault.ts";

export interface RateLimit {
  readonly limit: number;
  readonly windowMs: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  readonly policy: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly remaining: number;
  /** Until the bucket is full again, or, when refused, until one more is allowed. */
  readonly resetMs: number;
}

/** At once where the buckets are in memory. */
type Soon<T> = T | Promise<T>;

export interface RateLimiter {
  take(subject: string): Soon<RateDecision>;
  /**
   * Gives one back: the attempt turned out not to be of the kind that is limited. Never rejects.
   */
  refund(subject: string): Soon<void>;
}

export interface SubjectLimiter extends RateLimiter {
  /** Takes one, if as many as `kept` are left for others then. */
  take(subject: string, kept?: number): Soon<RateDecision>;
  /** Returns what `take` would, and takes nothing. */
  look(subject: string, kept?: number): Soon<RateDecision>;
}

/** One whose buckets are in memory. */
export interface OwnLimiter extends RateLimiter {
  take(subject: string): RateDecision;
  refund(subject: string): void;
}

export interface OwnSubjectLimiter extends OwnLimiter {
  take(subject: string, kept?: number): RateDecision;
  look(subject: string, kept?: number): RateDecision;
}

/** Makes limiters. Those of one `place` share their buckets, where processes share any. */
export interface Rates {
  ofSubjects(place: string, policy: string, limit: RateLimit): SubjectLimiter;
  ofAddresses(place: string, policy: string, limit: RateLimit): RateLimiter;
}

/** One that all processes on one database share. */
export interface SharedBucket {
  readonly key: string;
  readonly rate: Rate;
}

export interface RateStore {
  /**
   * Takes one of a bucket, if as many as `kept` are left then, and of a wider one around it; of
   * both or of neither. Returns what was spent of them before. `most`: buckets that are remembered.
   */
  takeRate(
    bucket: SharedBucket,
    options: {
      readonly kept: number;
      readonly wider?: SharedBucket | undefined;
      readonly most?: number;
    },
  ): Promise<
    { readonly isTaken: boolean; readonly spent: number; readonly widerSpent: number }
  >;
  /** Returns what is spent of a bucket. */
  lookRate(bucket: SharedBucket): Promise<number>;
  giveBackRate(key: string, wider: string | undefined): Promise<void>;
}

/** Creates rates that only this process counts. */
export function createOwnRates(clock: Clock): Rates {
  return {
    ofSubjects: (_, policy, limit) => createRateLimiter(policy, limit, clock),
    ofAddresses: (_, policy, limit) => createAddressLimiter(policy, limit, clock),
  };
}

/** Per whatever a subject is: an account, a mailbox. */
export function createRateLimiter(
  policy: string,
  limit: RateLimit,
  clock: Clock,
): OwnSubjectLimiter {
  const buckets = new Buckets(rateOf(limit));
  const decide = decider(policy, limit, buckets);
  return {
    take: (subject, kept = 0) => {
      const nowMs = clock();
      return decide(
        subject,
        nowMs,
        buckets.waitMs(subject, nowMs, 1 + kept) ?? buckets.take(subject, nowMs),
      );
    },
    look: (subject, kept = 0) => {
      const nowMs = clock();
      return decide(subject, nowMs, buckets.waitMs(subject, nowMs, 1 + kept));
    },
    refund: (subject) => buckets.giveBack(subject, clock()),
  };
}

/** Per client address and, for IPv6, per network around it, which has four times as much. */
export function createAddressLimiter(policy: string, limit: RateLimit, clock: Clock): OwnLimiter {
  const buckets = new AddressBuckets(rateOf(limit));
  const decide = decider(policy, limit, buckets);
  return {
    take: (address) => {
      const nowMs = clock();
      return decide(address, nowMs, buckets.take(address, nowMs));
    },
    refund: (address) => buckets.giveBack(address, clock()),
  };
}

export function rateOf({ limit, windowMs }: RateLimit): Rate {
  return { burst: limit, perSecond: 1000 * limit / windowMs };
}

function decider(
  policy: string,
  limit: RateLimit,
  buckets: Pick<Buckets, "look">,
): (subject: string, nowMs: number, waitMs: number | undefined) => RateDecision {
  return (subject, nowMs, waitMs) => {
    if (waitMs !== undefined) {
      return { allowed: false, policy, ...limit, remaining: 0, resetMs: waitMs };
    }
    const { remaining, fullInMs } = buckets.look(subject, nowMs);
    return { allowed: true, policy, ...limit, remaining, resetMs: fullInMs };
  };
}

/**
 * An attempt that nobody could judge, because we were overloaded, is given back: an outage must not
 * lock anybody out. Not if the caller's own crowd was the reason: a flood would cost nothing then.
 */
export async function orRefund<T>(work: Promise<T>, refund: () => Soon<void>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault && !error.isCallersOwn) await refund();
    throw error;
  }
}
