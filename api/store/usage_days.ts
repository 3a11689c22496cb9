/**
 * Usage by day and key. A lease counts on the day on which it was granted, so that days add up to
 * their month.
 */
import { parseKeyId } from "../../proto/mod.ts";
import type { UsageStore } from "../domain/deps.ts";
import type { PostgresDatabase } from "./database.ts";

/** In place of the key of everything that is not counted under one. */
export const notCountedApart = "00000000-0000-0000-0000-000000000000";

interface DayRow {
  readonly day: string;
  readonly key_id: string;
  readonly used: number;
  readonly payload: number;
  readonly padding: number;
  readonly cover: number;
}

export function createUsageDays({ sql, run }: PostgresDatabase): Pick<UsageStore, "readUsageDays"> {
  return {
    readUsageDays: async (accountId, { from, to }, atMs) => {
      // As in the month: a lease that expired without a last report counts as used.
      const rows = await run(sql<DayRow[]>`
        SELECT to_char(day, 'YYYY-MM-DD') AS day, key_id, sum(used)::bigint AS used, sum(payload)::bigint AS payload,
               sum(padding)::bigint AS padding, sum(cover)::bigint AS cover
        FROM (
          SELECT day, key_id, used, payload_bytes AS payload, padding_bytes AS padding, cover_bytes AS cover
          FROM usage_days WHERE account_id = ${accountId}
          UNION ALL
          SELECT (granted_at AT TIME ZONE 'UTC')::date, coalesce(key_id, ${notCountedApart}::uuid), granted - consumed, 0, 0, 0
          FROM leases WHERE account_id = ${accountId} AND closed_at IS NULL AND expires_at <= ${new Date(
        atMs,
      )}) used
        WHERE day BETWEEN ${from}::text::date AND ${to}::text::date
        GROUP BY day, key_id ORDER BY day, key_id`);
      return rows.map(({ day, key_id, used, payload, padding, cover }) => ({
        day,
        keyId: key_id === notCountedApart ? null : parseKeyId(key_id),
        messages: used,
        bytes: { payload, padding, cover },
      }));
    },
  };
}
