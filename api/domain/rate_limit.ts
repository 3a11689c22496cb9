/**
 * Token buckets, one per subject (an address, an account), in the memory of this process. The number of subjects is bounded:
 * the one unused for longest is forgotten first, which is always also the fullest bucket among equals.
 */
import { RecentMap } from "../../proto/mod.ts";
import { networkOf, networkShare } from "../../server/limits/mod.ts";
import { Fault } from "./fault.ts";
import type { Clock } from "./deps.ts";

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

const maxSubjects = 100_000;

export function createRateLimiter(policy: string, { limit, windowMs }: RateLimit, clock: Clock): RateLimiter {
  const buckets = new RecentMap<string, { tokens: number; atMs: number }>();
  const perMs = limit / windowMs;

  const current = (subject: string): { tokens: number; atMs: number } => {
    const nowMs = clock();
    const bucket = buckets.get(subject);
    if (bucket === undefined) return { tokens: limit, atMs: nowMs };
    // A clock that steps back must not take tokens away.
    const gained = Math.max(0, nowMs - bucket.atMs) * perMs;
    return { tokens: Math.min(limit, bucket.tokens + gained), atMs: nowMs };
  };
  const keep = (subject: string, bucket: { tokens: number; atMs: number }): void => {
    buckets.set(subject, bucket);
    if (buckets.size <= maxSubjects) return;
    for (const oldest of buckets.keys()) {
      buckets.delete(oldest);
      break;
    }
  };

  return {
    take: (subject) => {
      const bucket = current(subject);
      const allowed = bucket.tokens >= 1;
      const tokens = allowed ? bucket.tokens - 1 : bucket.tokens;
      keep(subject, { tokens, atMs: bucket.atMs });
      const missing = allowed ? limit - tokens : 1 - tokens;
      return {
        allowed,
        policy,
        limit,
        windowMs,
        remaining: Math.floor(tokens),
        resetMs: Math.ceil(missing / perMs),
      };
    },
    refund: (subject) => {
      const bucket = current(subject);
      keep(subject, { ...bucket, tokens: Math.min(limit, bucket.tokens + 1) });
    },
  };
}

/**
 * Limits by client address. A customer of an IPv6 network commands a /64 at least and often a /56, so both are counted: the
 * /64 as any address, the /56 with four times the limit.
 */
export function createAddressLimiter(policy: string, { limit, windowMs }: RateLimit, clock: Clock): RateLimiter {
  const addresses = createRateLimiter(policy, { limit, windowMs }, clock);
  const networks = createRateLimiter(policy, { limit: limit * networkShare, windowMs }, clock);
  return {
    take: (address) => {
      const network = networkOf(address);
      const decision = addresses.take(address);
      if (!decision.allowed || network === address) return decision;
      const ofNetwork = networks.take(network);
      if (ofNetwork.allowed) return decision;
      addresses.refund(address);
      return ofNetwork;
    },
    refund: (address) => {
      addresses.refund(address);
      if (networkOf(address) !== address) networks.refund(networkOf(address));
    },
  };
}

/**
 * An attempt that nobody could judge, because we were overloaded, is given back: an outage must not lock anybody out. Not if
 * the caller's own crowd was the reason: a flood would cost nothing then.
 */
export async function orRefund<T>(work: Promise<T>, refund: () => void): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault && !error.isCallersOwn) refund();
    throw error;
  }
}
