/**
 * Usage and leases in SQL. Lock order everywhere: leases by id, then usage rows by account and
 * period.
 */
import { parseAccountId } from "../../proto/mod.ts";
import { judgeReport, type UsageChange } from "../domain/lease_report.ts";
import type {
  GrantedLease,
  LeaseGrant,
  LeaseRecord,
  LeaseReport,
  ReportOutcome,
  UsageStore,
} from "../domain/deps.ts";
import { claimForKey } from "./key_leases.ts";
import type { GrantedRow, LeaseCounts, LeaseRow } from "./lease_rows.ts";
import { createUsageDays, notCountedApart } from "./usage_days.ts";
import { arrayText, type PostgresDatabase, type Sql, type Transaction } from "./database.ts";

interface UsageRow {
  readonly plan: string;
  readonly message_limit: number | null;
  readonly used: number;
  readonly payload: number;
  readonly padding: number;
  readonly cover: number;
}

interface ReportedRow extends LeaseCounts {
  readonly payload: number;
  readonly padding: number;
  readonly cover: number;
  readonly closed: boolean;
  readonly key_id: string;
  readonly day: string;
}

export function createUsageStore(database: PostgresDatabase): UsageStore {
  const { sql, run, transact, violatedConstraint } = database;
  return {
    ...createUsageDays(database),
    readUsage: async (accountId, period, atMs) => {
      const [row] = await run(sql<UsageRow[]>`
        SELECT a.plan, coalesce(a.message_limit, p.message_limit) AS message_limit,
               coalesce(u.used, 0) + coalesce((
                 SELECT sum(l.granted - l.consumed) FROM leases l
                 WHERE l.account_id = a.id AND l.period_start = u.period_start AND l.closed_at IS NULL
                   AND l.expires_at <= ${new Date(atMs)}), 0)::bigint AS used,
               coalesce(u.payload_bytes, 0) AS payload, coalesce(u.padding_bytes, 0) AS padding,
               coalesce(u.cover_bytes, 0) AS cover
        FROM accounts a JOIN plans p ON p.name = a.plan
        LEFT JOIN usage u ON u.account_id = a.id AND u.period_start = ${new Date(period.startMs)}
        WHERE a.id = ${accountId}`);
      if (row === undefined) throw new Error("An authenticated account has no row");
      const { plan, message_limit: limit, used, payload, padding, cover } = row;
      return { plan, limit, used, bytes: { payload, padding, cover } };
    },

    grantLease: async (grant) => {
      try {
        const row = grant.keyId === undefined
          ? (await run(claim(sql, grant)))[0]
          : await transact((sql) => claimForKey(sql, grant, grant.keyId ?? ""));
        if (row !== undefined) return toGranted(row);
      } catch (error) {
        if (violatedConstraint(error) !== "leases_nonce") throw error;
      }
      return await whyNotGranted(database, grant);
    },

    reportLeases: (relayId, reports, atMs) =>
      transact(async (sql) => {
        const leases = await lockLeases(sql, relayId, reports.map(({ leaseId }) => leaseId));
        const judged = judgeAll(leases, reports);
        const changes = judged.flatMap(({ change }) => change === undefined ? [] : [change]);
        if (changes.length > 0) await applyChanges(sql, changes, atMs);
        return judged.map(({ outcome }) => outcome);
      }),

    listLeases: async (relayId, limit) => {
      const rows = await run(sql<LeaseRow[]>`
        SELECT l.id, l.fence, l.account_id, l.period_start, l.granted, l.consumed, l.expires_at, a.plan
        FROM leases l JOIN accounts a ON a.id = l.account_id
        WHERE l.relay_id = ${relayId} AND l.closed_at IS NULL ORDER BY l.granted_at LIMIT ${limit}`);
      return rows.map(toLease);
    },

    forgetLeases: async (closedBeforeMs, limit) => {
      // Skips what another process deletes right now, or a relay repeats its report of.
      await run(sql`
        DELETE FROM leases WHERE id IN (
          SELECT id FROM leases WHERE closed_at < ${new Date(closedBeforeMs)}
          ORDER BY closed_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
    },
  };
}

/** A repetition of an earlier request, an unknown account, or nothing is left. */
async function whyNotGranted(
  { sql, run }: PostgresDatabase,
  grant: LeaseGrant,
): ReturnType<UsageStore["grantLease"]> {
  const [earlier] = await run(sql<(GrantedRow & { relay_id: string })[]>`
    SELECT l.id, l.fence, l.account_id, l.period_start, l.granted, l.consumed, l.expires_at, l.relay_id, a.plan,
           u.claimed, coalesce(a.message_limit, p.message_limit) AS message_limit
    FROM leases l JOIN accounts a ON a.id = l.account_id JOIN plans p ON p.name = a.plan
    JOIN usage u ON u.account_id = l.account_id AND u.period_start = l.period_start
    WHERE l.nonce = ${grant.nonce}`);
  if (earlier !== undefined) {
    const same = earlier.relay_id === grant.relayId && earlier.account_id === grant.accountId;
    return same ? toGranted(earlier) : "nonce_taken";
  }
  const [account] = await run(sql`
    SELECT 1 FROM accounts WHERE id = ${grant.accountId} AND deleted_at IS NULL AND suspended_at IS NULL
      AND (${grant.keyId === undefined} OR EXISTS (
        SELECT 1 FROM api_keys WHERE id = ${
    grant.keyId ?? null
  }::uuid AND account_id = ${grant.accountId}))`);
  return account === undefined ? "unknown_account" : "exhausted";
}

/**
 * Takes from the month and makes the lease in one statement. The usage row is locked by the upsert,
 * and its new value is computed from the locked version, so any number of parallel claims stay
 * within the limit without retrying.
 */
function claim(sql: Sql, grant: LeaseGrant): ReturnType<typeof sql<GrantedRow[]>> {
  return sql<GrantedRow[]>`
    WITH request AS (
      SELECT a.id, a.plan, ${grant.wanted}::bigint AS wanted, coalesce(a.message_limit, p.message_limit) AS shown_limit,
             coalesce(a.message_limit, p.message_limit, 9223372036854775807) AS message_limit
      FROM accounts a JOIN plans p ON p.name = a.plan
      WHERE a.id = ${grant.accountId} AND a.deleted_at IS NULL AND (a.suspended_at IS NULL OR ${
    grant.wanted === 0
  })
    ), claimed AS (
      INSERT INTO usage AS u (account_id, period_start, claimed, last_granted)
      SELECT id, ${new Date(
    grant.periodStartMs,
  )}::timestamptz, least(wanted, message_limit), least(wanted, message_limit)
      FROM request
      ON CONFLICT (account_id, period_start) DO UPDATE SET
        claimed = u.claimed + least((SELECT wanted FROM request),
                                    greatest(0, (SELECT message_limit FROM request) - u.claimed)),
        last_granted = least((SELECT wanted FROM request),
                             greatest(0, (SELECT message_limit FROM request) - u.claimed))
      RETURNING last_granted, claimed
    ), lease AS (
      INSERT INTO leases (id, nonce, relay_id, account_id, period_start, granted, granted_at, expires_at)
      SELECT ${grant.id}::uuid, ${grant.nonce}::uuid, ${grant.relayId}::text, id,
             ${new Date(grant.periodStartMs)}::timestamptz, last_granted, ${new Date(
    grant.grantedAtMs,
  )}::timestamptz,
             ${new Date(grant.expiresAtMs)}::timestamptz
      FROM request, claimed WHERE last_granted > 0 OR wanted = 0
      RETURNING id, fence, account_id, period_start, granted, consumed, expires_at
    )
    SELECT lease.*, request.plan, claimed.claimed, request.shown_limit AS message_limit FROM lease, request, claimed`;
}

async function lockLeases(
  sql: Transaction,
  relayId: string,
  ids: readonly string[],
): Promise<Map<string, ReportedRow>> {
  const rows = await sql<ReportedRow[]>`
    SELECT id, fence, account_id, period_start, granted, consumed, payload_bytes AS payload, padding_bytes AS padding,
           cover_bytes AS cover, closed_at IS NOT NULL AS closed, coalesce(key_id, ${notCountedApart}::uuid) AS key_id,
           to_char(granted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day
    FROM leases WHERE id = ANY(${
    arrayText(ids)
  }::text::uuid[]) AND relay_id = ${relayId} ORDER BY id FOR UPDATE`;
  return new Map(rows.map((row) => [row.id, row]));
}

interface LeaseChange {
  readonly lease: ReportedRow;
  readonly report: LeaseReport;
  readonly usage: UsageChange;
}

/** In the reports' order; a later report of the same lease is judged against the earlier one. */
function judgeAll(
  locked: ReadonlyMap<string, ReportedRow>,
  reports: readonly LeaseReport[],
): { outcome: ReportOutcome; change: LeaseChange | undefined }[] {
  const leases = new Map(locked);
  return reports.map((report) => {
    const lease = leases.get(report.leaseId);
    const { outcome, change: usage } = judgeReport(lease, report);
    if (lease === undefined || usage === undefined) return { outcome, change: undefined };
    leases.set(report.leaseId, {
      ...lease,
      ...report.bytes,
      consumed: report.consumed,
      closed: report.close,
    });
    return { outcome, change: { lease, report, usage } };
  });
}

/**
 * The same few statements for any number of reports: one round trip for each would take a distant
 * database past the deadline. Usage rows are locked in one order by everybody, so that two relays
 * that report the same accounts never wait in a circle.
 */
async function applyChanges(
  sql: Transaction,
  changes: readonly LeaseChange[],
  atMs: number,
): Promise<void> {
  const rows = JSON.stringify(changes.map(({ lease, report, usage }, index) => ({
    index,
    id: lease.id,
    account_id: lease.account_id,
    period_start: lease.period_start,
    key_id: lease.key_id,
    day: lease.day,
    consumed: report.consumed,
    ...report.bytes,
    close: report.close,
    used: usage.used,
    returned: usage.returned,
    more_payload: usage.bytes.payload,
    more_padding: usage.bytes.padding,
    more_cover: usage.bytes.cover,
  })));
  // A lease may be reported more than once in a batch: its last report holds.
  await sql`
    UPDATE leases l SET consumed = c.consumed, payload_bytes = c.payload, padding_bytes = c.padding,
      cover_bytes = c.cover, closed_at = CASE WHEN c.close THEN ${new Date(atMs)}::timestamptz END
    FROM (
      SELECT DISTINCT ON (id) * FROM jsonb_to_recordset(${rows}::text::jsonb) AS c (
        index int, id uuid, consumed bigint, payload bigint, padding bigint, cover bigint, close boolean)
      ORDER BY id, index DESC) c
    WHERE l.id = c.id`;
  await sql`
    SELECT 1 FROM usage WHERE (account_id, period_start) IN (
      SELECT account_id, period_start
      FROM jsonb_to_recordset(${rows}::text::jsonb) AS c (account_id uuid, period_start timestamptz))
    ORDER BY account_id, period_start FOR UPDATE`;
  await sql`
    UPDATE usage u SET used = u.used + c.used, claimed = u.claimed - c.returned,
      payload_bytes = u.payload_bytes + c.payload, padding_bytes = u.padding_bytes + c.padding,
      cover_bytes = u.cover_bytes + c.cover
    FROM (
      SELECT account_id, period_start, sum(used)::bigint AS used, sum(returned)::bigint AS returned,
             sum(more_payload)::bigint AS payload, sum(more_padding)::bigint AS padding, sum(more_cover)::bigint AS cover
      FROM jsonb_to_recordset(${rows}::text::jsonb) AS c (
        account_id uuid, period_start timestamptz, used bigint, returned bigint,
        more_payload bigint, more_padding bigint, more_cover bigint)
      GROUP BY account_id, period_start) c
    WHERE u.account_id = c.account_id AND u.period_start = c.period_start`;
  // The account's row is locked, so that nobody else changes these.
  await sql`
    UPDATE key_usage k SET used = k.used + c.used, claimed = k.claimed - c.returned
    FROM (
      SELECT key_id, period_start, sum(used)::bigint AS used, sum(returned)::bigint AS returned
      FROM jsonb_to_recordset(${rows}::text::jsonb) AS c (key_id uuid, period_start timestamptz, used bigint, returned bigint)
      GROUP BY key_id, period_start) c
    WHERE k.key_id = c.key_id AND k.period_start = c.period_start`;
  await sql`
    INSERT INTO usage_days AS d (account_id, day, key_id, used, payload_bytes, padding_bytes, cover_bytes)
    SELECT account_id, day, key_id, sum(used)::bigint, sum(more_payload)::bigint, sum(more_padding)::bigint,
           sum(more_cover)::bigint
    FROM jsonb_to_recordset(${rows}::text::jsonb) AS c (
      account_id uuid, day date, key_id uuid, used bigint, more_payload bigint, more_padding bigint, more_cover bigint)
    GROUP BY account_id, day, key_id ORDER BY account_id, day, key_id
    ON CONFLICT (account_id, day, key_id) DO UPDATE SET used = d.used + excluded.used,
      payload_bytes = d.payload_bytes + excluded.payload_bytes, padding_bytes = d.padding_bytes + excluded.padding_bytes,
      cover_bytes = d.cover_bytes + excluded.cover_bytes`;
}

function toGranted(row: GrantedRow): GrantedLease {
  return { ...toLease(row), usage: { claimed: row.claimed, limit: row.message_limit } };
}

function toLease(row: LeaseRow): LeaseRecord {
  return {
    id: row.id,
    fence: row.fence,
    accountId: parseAccountId(row.account_id),
    granted: row.granted,
    consumed: row.consumed,
    expiresAtMs: row.expires_at.getTime(),
    periodStartMs: row.period_start.getTime(),
    plan: row.plan,
  };
}
