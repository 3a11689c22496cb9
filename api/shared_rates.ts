/**
 * Rates whose buckets stand in the database, for an edge: its processes come and go, and none knows
 * what another has counted. While the database does not answer nothing is allowed: no request could
 * be answered then anyway. One that could not be given back stays taken until time brings it back.
 */
import { Bucket, networkShare, originOf, type Rate } from "../server/limits/mod.ts";
import {
  type RateDecision,
  type RateLimit,
  rateOf,
  type Rates,
  type RateStore,
  type SharedBucket,
} from "./domain/rate_limit.ts";

export interface SharedRatesDeps {
  readonly store: RateStore;
  /** A keyed one-way function: subjects are addresses and mailboxes. */
  readonly hide: (text: string) => string;
  /** Told why something could not be given back. */
  readonly onFault: (error: unknown) => void;
}

export function createSharedRates({ store, hide, onFault }: SharedRatesDeps): Rates {
  const giveBack = async (key: string, wider?: string): Promise<void> => {
    try {
      await store.giveBackRate(key, wider);
    } catch (error) {
      onFault(error);
    }
  };
  return {
    ofSubjects: (place, policy, limit) => {
      const bucketOf = (subject: string): SharedBucket => ({
        key: hide(`${place} subject ${subject}`),
        rate: rateOf(limit),
      });
      return {
        take: async (subject, kept = 0) => {
          const bucket = bucketOf(subject);
          const { isTaken, spent } = await store.takeRate(bucket, { kept });
          return decisionOf(policy, limit, isTaken, [{ rate: bucket.rate, spent, kept }]);
        },
        look: async (subject, kept = 0) => {
          const bucket = bucketOf(subject);
          const spent = await store.lookRate(bucket);
          const hasRoom = new Bucket(bucket.rate, spent).waitMs(0, 1 + kept) === undefined;
          return decisionOf(policy, limit, hasRoom, [{ rate: bucket.rate, spent, kept }]);
        },
        refund: (subject) => giveBack(bucketOf(subject).key),
      };
    },
    ofAddresses: (place, policy, limit) => {
      const bucketsOf = (
        address: string,
      ): { readonly bucket: SharedBucket; readonly wider: SharedBucket | undefined } => {
        const { prefix, network } = originOf(address);
        const { burst, perSecond } = rateOf(limit);
        const bucket = { key: hide(`${place} prefix ${prefix}`), rate: { burst, perSecond } };
        const rate = { burst: networkShare * burst, perSecond: networkShare * perSecond };
        const wider = network === prefix
          ? undefined
          : { key: hide(`${place} network ${network}`), rate };
        return { bucket, wider };
      };
      return {
        take: async (address) => {
          const { bucket, wider } = bucketsOf(address);
          const { isTaken, spent, widerSpent } = await store.takeRate(bucket, { kept: 0, wider });
          const spents = [{ rate: bucket.rate, spent, kept: 0 }];
          if (wider !== undefined) {
            spents.push({ rate: wider.rate, spent: widerSpent, kept: 0 });
          }
          return decisionOf(policy, limit, isTaken, spents);
        },
        refund: (address) => {
          const { bucket, wider } = bucketsOf(address);
          return giveBack(bucket.key, wider?.key);
        },
      };
    },
  };
}

interface SpentRate {
  readonly rate: Rate;
  readonly spent: number;
  readonly kept: number;
}

/** In the words of the buckets that are in memory. */
function decisionOf(
  policy: string,
  limit: RateLimit,
  isTaken: boolean,
  spents: readonly SpentRate[],
): RateDecision {
  if (!isTaken) {
    const waits = spents.map(({ rate, spent, kept }) =>
      new Bucket(rate, spent).waitMs(0, 1 + kept) ?? 0
    );
    return { allowed: false, policy, ...limit, remaining: 0, resetMs: Math.max(1, ...waits) };
  }
  const levels = spents.map(({ rate, spent }) => new Bucket(rate, spent + 1).look(0));
  return {
    allowed: true,
    policy,
    ...limit,
    remaining: Math.min(...levels.map(({ remaining }) => remaining)),
    resetMs: Math.max(...levels.map(({ fullInMs }) => fullInMs)),
  };
}
