/** Queries and changes of operators, in SQL. */
import { parseAccountId } from "../../proto/mod.ts";
import type { AccountOverview, AdminStore, KeyOverview } from "../domain/admin_store.ts";
import type { AuditStamp } from "../domain/deps.ts";
import { monthOf } from "../domain/usage.ts";
import { arrayText, type PostgresDatabase, type Transaction } from "./database.ts";
import { endSessions, revokeKeys } from "./credential_revocation.ts";

interface OverviewRow {
  readonly id: string;
  readonly email: string | null;
  readonly verified: boolean;
  readonly plan: string;
  readonly message_limit: number | null;
  readonly created_at: Date;
  readonly state: AccountOverview["state"];
  readonly active_keys: number;
  readonly open_sessions: number;
  readonly claimed: number;
}

interface KeyOverviewRow {
  readonly id: string;
  readonly key_prefix: string;
  readonly account_id: string;
  readonly kind: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

export function createAdminStore(database: PostgresDatabase): AdminStore {
  return { ...createViews(database), ...createOrders(database) };
}

type Views = Pick<AdminStore, "findAccount" | "listAccounts" | "findKeys" | "listPlans">;

function createViews({ sql, run }: PostgresDatabase): Views {
  return {
    findAccount: async (who) => {
      const [row] = await run(sql<{ id: string }[]>`
        SELECT id FROM accounts
        WHERE ${
        "id" in who ? sql`id = ${who.id}` : sql`email_key = ${who.emailKey}`
      } AND deleted_at IS NULL`);
      return row === undefined ? undefined : parseAccountId(row.id);
    },

    listAccounts: async ({ id, search, by, limit, atMs }) => {
      const at = new Date(atMs);
      const order = by === "age" ? sql`a.created_at DESC` : sql`claimed DESC`;
      // A condition that is not asked for is not in the statement: it would keep the database from
      // using an index.
      const only = id === undefined ? sql`` : sql`AND a.id = ${id}`;
      const like = search === undefined ? sql`` : sql`AND strpos(a.email_key, ${search}) > 0`;
      const rows = await run(sql<OverviewRow[]>`
        SELECT a.id, a.email, a.email_verified_at IS NOT NULL AS verified, a.plan, a.message_limit, a.created_at,
               CASE WHEN a.deleted_at IS NOT NULL THEN 'deleted' WHEN a.suspended_at IS NOT NULL THEN 'suspended'
                    ELSE 'active' END AS state,
               (SELECT count(*) FROM api_keys k WHERE k.account_id = a.id AND k.revoked_at IS NULL
                  AND (k.expires_at IS NULL OR k.expires_at > ${at})) AS active_keys,
               (SELECT count(*) FROM sessions s WHERE s.account_id = a.id AND s.ended_at IS NULL
                  AND s.expires_at > ${at}) AS open_sessions,
               coalesce(u.claimed, 0) AS claimed
        FROM accounts a LEFT JOIN usage u ON u.account_id = a.id
          AND u.period_start = ${new Date(monthOf(atMs).startMs)}
        WHERE true ${only} ${like}
        ORDER BY ${order}, a.id LIMIT ${limit}`);
      return rows.map((row) => ({
        id: parseAccountId(row.id),
        email: row.email,
        isVerified: row.verified,
        plan: row.plan,
        messageLimit: row.message_limit,
        createdAtMs: row.created_at.getTime(),
        state: row.state,
        activeKeys: row.active_keys,
        openSessions: row.open_sessions,
        claimed: row.claimed,
      }));
    },

    findKeys: async (prefix, limit) => {
      const rows = await run(sql<KeyOverviewRow[]>`
        SELECT id, key_prefix, account_id, kind, created_at, last_used_at, expires_at, revoked_at FROM api_keys
        WHERE key_prefix ~>=~ ${prefix} AND key_prefix ~<~ ${`${prefix}~`} AND starts_with(key_prefix, ${prefix})
        ORDER BY key_prefix LIMIT ${limit}`);
      return rows.map(toKey);
    },

    listPlans: async () => {
      const rows = await run(sql<{ name: string; message_limit: number | null }[]>`
        SELECT name, message_limit FROM plans ORDER BY message_limit NULLS LAST, name`);
      return rows.map(({ name, message_limit: messageLimit }) => ({ name, messageLimit }));
    },
  };
}

function createOrders({ transact }: PostgresDatabase): Omit<AdminStore, keyof Views> {
  return {
    suspend: (accountId, act) =>
      transact(async (sql) => {
        const at = new Date(act.atMs);
        const { count } = await sql`
          UPDATE accounts SET suspended_at = ${at}, version = version + 1
          WHERE id = ${accountId} AND suspended_at IS NULL AND deleted_at IS NULL`;
        if (count === 0) return false;
        await endSessions(sql, accountId, at);
        await audit(sql, "account.suspended", accountId, act);
        return true;
      }),
    resume: (accountId, act) =>
      transact(async (sql) => {
        const { count } = await sql`
          UPDATE accounts SET suspended_at = NULL, version = version + 1
          WHERE id = ${accountId} AND suspended_at IS NOT NULL`;
        if (count === 1) await audit(sql, "account.resumed", accountId, act);
        return count === 1;
      }),
    revokeAll: (accountId, act) =>
      transact(async (sql) => {
        const at = new Date(act.atMs);
        await sql`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
        const keys = await revokeKeys(sql, accountId, at);
        const ended = { keys, sessions: await endSessions(sql, accountId, at) };
        await audit(sql, "account.all_revoked", accountId, act, ended);
        return ended;
      }),
    setPlan: (accountId, plan, act) =>
      transact(async (sql) => {
        if (!await isPlan(sql, plan)) return "unknown_plan";
        const { count } = await sql`
          UPDATE accounts SET plan = ${plan}, version = version + 1 WHERE id = ${accountId} AND deleted_at IS NULL`;
        if (count === 0) return "unknown_account";
        await audit(sql, "account.plan_set", accountId, act, { plan });
        return "set";
      }),
    setAccountLimit: (accountId, limit, act) =>
      transact(async (sql) => {
        const { count } = await sql`
          UPDATE accounts SET message_limit = ${limit}, version = version + 1
          WHERE id = ${accountId} AND deleted_at IS NULL`;
        if (count === 1) await audit(sql, "account.limit_set", accountId, act, { limit });
        return count === 1;
      }),
    setPlanLimit: (plan, limit, act) =>
      transact(async (sql) => {
        const { count } = await sql`UPDATE plans SET message_limit = ${limit} WHERE name = ${plan}`;
        if (count === 0) return "unknown_plan";
        await audit(sql, "plan.limit_set", null, act, { plan, limit });
        return "set";
      }),
    movePlan: (from, to, act) => transact((sql) => movePlan(sql, { from, to, ...act })),
  };
}

async function movePlan(
  sql: Transaction,
  { from, to, atMs, actor }: AuditStamp & { readonly from: string; readonly to: string },
): Promise<number> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM accounts a WHERE plan = ${from} AND deleted_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM audit_events e WHERE e.account_id = a.id AND e.event = 'account.plan_set')
    ORDER BY id FOR NO KEY UPDATE OF a`;
  if (rows.length === 0) return 0;
  const ids = arrayText(rows.map(({ id }) => id));
  await sql`UPDATE accounts SET plan = ${to}, version = version + 1 WHERE id = ANY(${ids}::text::uuid[])`;
  const details = JSON.stringify({ plan: to });
  await sql`
    SELECT audit_append(${new Date(
    atMs,
  )}, 'account.plan_set', ${actor}, id, NULL, ${details}::text::jsonb)
    FROM unnest(${ids}::text::uuid[]) AS id`;
  return rows.length;
}

async function isPlan(sql: Transaction, plan: string): Promise<boolean> {
  const [known] = await sql`SELECT 1 FROM plans WHERE name = ${plan}`;
  return known !== undefined;
}

async function audit(
  sql: Transaction,
  event: string,
  accountId: string | null,
  { atMs, actor }: AuditStamp,
  details?: object,
): Promise<void> {
  const text = details === undefined ? null : JSON.stringify(details);
  await sql`SELECT audit_append(${new Date(
    atMs,
  )}, ${event}, ${actor}, ${accountId}, NULL, ${text}::text::jsonb)`;
}

function toKey(row: KeyOverviewRow): KeyOverview {
  return {
    id: row.id,
    keyPrefix: row.key_prefix,
    accountId: parseAccountId(row.account_id),
    kind: row.kind,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    revokedAtMs: row.revoked_at?.getTime() ?? null,
  };
}
