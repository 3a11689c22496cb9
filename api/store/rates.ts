/**
 * Buckets that all processes on one database share, in SQL. One statement takes of a bucket and of
 * the one around it; PostgreSQL's clock says what has come back, so processes whose clocks differ
 * agree.
 */
import type { RateStore, SharedBucket } from "../domain/rate_limit.ts";
import type { PostgresDatabase } from "./database.ts";

/** About 150 bytes each, with their indexes. Of more, the oldest are forgotten. */
const maxBuckets = 1_000_000;

export function createRateStore({ sql, run }: PostgresDatabase): RateStore {
  return {
    takeRate: async (bucket, { kept, wider, most = maxBuckets }) => {
      const [burst, perSecond] = rateOf(bucket);
      const [widerBurst, widerPerSecond] = wider === undefined ? [null, null] : rateOf(wider);
      const [row] = await run(sql<{ taken: boolean; spent: number; wider_spent: number }[]>`
        SELECT taken, spent, wider_spent FROM rate_take(
          ${bucket.key}, ${burst}, ${perSecond}, ${kept},
          ${wider?.key ?? null}, ${widerBurst}, ${widerPerSecond}, ${most})`);
      if (row === undefined) throw new TypeError("rate_take returned no row");
      return { isTaken: row.taken, spent: row.spent, widerSpent: row.wider_spent };
    },
    lookRate: async ({ key, rate: { perSecond } }) => {
      const [row] = await run(sql<{ spent: number }[]>`
        SELECT greatest(0, spent - ${perSecond}::double precision *
          greatest(0, extract(epoch FROM clock_timestamp() - at)::double precision)) AS spent
        FROM rate_buckets WHERE key = ${key}`);
      return row?.spent ?? 0;
    },
    giveBackRate: async (key, wider) => {
      await run(sql`
        UPDATE rate_buckets SET spent = greatest(0, spent - 1) WHERE key IN (${key}, ${
        wider ?? key
      })`);
    },
  };
}

function rateOf({ rate: { burst, perSecond } }: SharedBucket): readonly [number, number] {
  return [burst, perSecond];
}
