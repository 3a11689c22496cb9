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

export interface RateLimiter {
  take(subject: string): RateDecision;
  /** Gives one back: the attempt turned out not to be of the kind that is limited. */
  refund(subject: string): void;
}

export interface SubjectLimiter extends RateLimiter {
  /** Takes one, if as many as `kept` are left for others then. */
  take(subject: string, kept?: number): RateDecision;
}

/** Per whatever a subject is: an account, a mailbox. */
export function createRateLimiter(policy: string, limit: RateLimit, clock: Clock): SubjectLimiter {
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
    refund: (subject) => buckets.giveBack(subject, clock()),
  };
}

/** Per client address and, for IPv6, per network around it, which has four times as much. */
export function createAddressLimiter(policy: string, limit: RateLimit, clock: Clock): RateLimiter {
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

function rateOf({ limit, windowMs }: RateLimit): Rate {
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
export async function orRefund<T>(work: Promise<T>, refund: () => void): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault && !error.isCallersOwn) refund();
    throw error;
  }
}
