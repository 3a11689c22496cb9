/**
 * Everything in the core that agents may do only so often, in one table. Each rate has a bucket for
 * each of its keys.
 */
import {
  AddressBuckets,
  type Bucket,
  Buckets,
  type Rate,
  takeOfAll,
} from "../../../server/limits/mod.ts";
import type { CoreConfig } from "../config.ts";
import type { WorkCost } from "./fair_turns.ts";
import { partOf, sharesOf, type SharingAgent } from "./shares.ts";

const hourSeconds = 60 * 60;
const daySeconds = 24 * hourSeconds;

export class CoreRates {
  /** Microseconds of work that an account causes, by estimate. */
  readonly work: AccountBuckets;
  /** KeyPackages that an account claims, of whomever. */
  readonly claims: AccountBuckets;
  /** Limits claims for one target agent. The key is account and agent. */
  readonly targetClaims: Buckets;
  /**
   * Limits claims of KeyPackages that may be used once, and claims that a pool serves to its end.
   */
  readonly singleUseClaims: Buckets;
  readonly firstClaims = new Buckets(again(3));
  /** Limits invites by agent. */
  readonly invites: Buckets;
  /**
   * Limits foundings of one channel by one owner, and claims of one member's KeyPackages for them:
   * an honest owner needs one, or a few when another is faster.
   */
  readonly foundings = new Buckets(again(10));
  /**
   * Statements about further leaves of somebody that has left, by channel and agent. One is enough
   * for an honest agent.
   */
  readonly leavesAgain = new Buckets(hourly(16));
  /**
   * Requests of one member to come back. Each is told to all others, which verify it. An honest one
   * makes a hundred at most.
   */
  readonly rejoins = new Buckets(hourly(600));
  /**
   * How often an agent is sent to relays that have room. One that is back again found none that
   * took it, and is told to wait.
   */
  readonly elsewhere = new Buckets(again(6));

  /** Messages of the visitors of one address, within a public key. */
  readonly visitors: AddressBuckets;

  constructor(config: CoreConfig) {
    const {
      accountWorkMs,
      accountWorkMsPerSecond,
      claimsPerAccountAndHour,
      visitorMessagesPerDay,
    } = config;
    this.work = new AccountBuckets((part) => ({
      burst: partOf(1_000 * accountWorkMs, part),
      perSecond: partOf(1_000 * accountWorkMsPerSecond, part),
    }));
    this.claims = new AccountBuckets((part) => hourly(partOf(claimsPerAccountAndHour, part)));
    this.targetClaims = new Buckets(hourly(config.claimsPerTargetAndHour));
    this.singleUseClaims = new Buckets(hourly(config.singleUseClaimsPerTargetAndHour));
    this.visitors = new AddressBuckets({
      burst: visitorMessagesPerDay,
      perSecond: visitorMessagesPerDay / daySeconds,
    });
    this.invites = new Buckets(hourly(config.invitesPerAgentAndHour));
  }
}

/** Buckets of accounts, and smaller ones of those that have a part. */
class AccountBuckets {
  readonly #rateOf: (part: number) => Rate;
  readonly #byPart = new Map<number, Buckets>();

  constructor(rateOf: (part: number) => Rate) {
    this.#rateOf = rateOf;
  }

  of(agent: SharingAgent, nowMs: number): readonly Bucket[] {
    return sharesOf(agent).map(({ name, part }) => this.#of(part).of(name, nowMs));
  }

  take(agent: SharingAgent, nowMs: number, amount: WorkCost): number | undefined {
    return amount === 0 ? undefined : takeOfAll(this.of(agent, nowMs), nowMs, amount);
  }

  #of(part: number): Buckets {
    const buckets = this.#byPart.get(part) ?? new Buckets(this.#rateOf(part));
    this.#byPart.set(part, buckets);
    return buckets;
  }
}

/**
 * A ceiling: no hour sees more than this many. Half of them may come at once, and half come back in
 * an hour.
 */
function hourly(most: number): Rate {
  const half = most / 2;
  return { burst: Math.max(1, half), perSecond: half / hourSeconds };
}

/** So many at once, and as many again in an hour. */
function again(count: number): Rate {
  return { burst: count, perSecond: count / hourSeconds };
}
