/** Usage and leases in SQL. Lock order everywhere: leases by id, then usage rows by account and period. */
import { parseAccountId } from "../../proto/mod.ts";
import { judgeReport, type UsageChange } from "../domain/lease_report.ts";
import type { LeaseGrant, LeaseRecord, LeaseReport, ReportOutcome, UsageStore } from "../domain/deps.ts";
import { arrayText, type Database, type Sql, type Transaction } from "./database.ts";

interface LeaseRow {
  readonly id: string;
  readonly fence: number;
  readonly account_id: string;
  readonly period_start: Date;
  readonly granted: number;
  readonly consumed: number;
  readonly expires_at: Date;
  readonly plan: string;
}

interface UsageRow {
  readonly plan: string;
  readonly message_limit: number | null;
  readonly used: number;
  readonly payload: number;
  readonly padding: number;
  readonly cover: number;
}

interface ReportedRow {
  readonly id: string;
  readonly fence: number;
  readonly account_id: string;
  readonly period_start: Date;
  readonly granted: number;
  readonly consumed: number;
  readonly payload: number;
  readonly padding: number;
  readonly cover: number;
  readonly closed: boolean;
}

export function createUsageStore({ sql, run, transact, violatedConstraint }: Database): UsageStore {
  return {
    readUsage: async (accountId, period, atMs) => {
      const [row] = await run(sql<UsageRow[]>`
        SELECT a.plan, p.message_limit,
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
        const [row] = await run(claim(sql, grant));
        if (row !== undefined) return toLease(row);
      } catch (error) {
        if (violatedConstraint(error) !== "leases_nonce") throw error;
      }
      // Nothing was granted: it is a repetition of an earlier request, the account is unknown, or nothing is left.
      const [earlier] = await run(sql<(LeaseRow & { relay_id: string })[]>`
        SELECT l.id, l.fence, l.account_id, l.period_start, l.granted, l.consumed, l.expires_at, l.relay_id, a.plan
        FROM leases l JOIN accounts a ON a.id = l.account_id WHERE l.nonce = ${grant.nonce}`);
      if (earlier !== undefined) {
        const same = earlier.relay_id === grant.relayId && earlier.account_id === grant.accountId;
        return same ? toLease(earlier) : "nonce_taken";
      }
      const [account] = await run(sql`SELECT 1 FROM accounts WHERE id = ${grant.accountId}`);
      return account === undefined ? "unknown_account" : "exhausted";
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

/**
 * Takes from the month and makes the lease in one statement. The usage row is locked by the upsert, and its new value is
 * computed from the locked version, so any number of parallel claims stay within the limit without retrying.
 */
function claim(sql: Sql, grant: LeaseGrant): ReturnType<typeof sql<LeaseRow[]>> {
  return sql<LeaseRow[]>`
    WITH request AS (
      SELECT a.id, a.plan, ${grant.wanted}::bigint AS wanted,
             coalesce(p.message_limit, 9223372036854775807) AS message_limit
      FROM accounts a JOIN plans p ON p.name = a.plan WHERE a.id = ${grant.accountId}
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
      RETURNING last_granted
    ), lease AS (
      INSERT INTO leases (id, nonce, relay_id, account_id, period_start, granted, granted_at, expires_at)
      SELECT ${grant.id}::uuid, ${grant.nonce}::uuid, ${grant.relayId}::text, id,
             ${new Date(grant.periodStartMs)}::timestamptz, last_granted, ${new Date(grant.grantedAtMs)}::timestamptz,
             ${new Date(grant.expiresAtMs)}::timestamptz
      FROM request, claimed WHERE last_granted > 0 OR wanted = 0
      RETURNING id, fence, account_id, period_start, granted, consumed, expires_at
    )
    SELECT lease.*, request.plan FROM lease, request`;
}

async function lockLeases(
  sql: Transaction,
  relayId: string,
  ids: readonly string[],
): Promise<Map<string, ReportedRow>> {
  const rows = await sql<ReportedRow[]>`
    SELECT id, fence, account_id, period_start, granted, consumed, payload_bytes AS payload, padding_bytes AS padding,
           cover_bytes AS cover, closed_at IS NOT NULL AS closed
    FROM leases WHERE id = ANY(${arrayText(ids)}::text::uuid[]) AND relay_id = ${relayId} ORDER BY id FOR UPDATE`;
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
    leases.set(report.leaseId, { ...lease, ...report.bytes, consumed: report.consumed, closed: report.close });
    return { outcome, change: { lease, report, usage } };
  });
}

/**
 * The same few statements for any number of reports: one round trip for each would take a distant database past the deadline.
 * Usage rows are locked in one order by everybody, so that two relays that report the same accounts never wait in a circle.
 */
async function applyChanges(sql: Transaction, changes: readonly LeaseChange[], atMs: number): Promise<void> {
  const rows = JSON.stringify(changes.map(({ lease, report, usage }, index) => ({
    index,
    id: lease.id,
    account_id: lease.account_id,
    period_start: lease.period_start,
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
