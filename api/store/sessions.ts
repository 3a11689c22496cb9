/** Sessions of the console in SQL. */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import type { OpenSession, SessionStore } from "../domain/account_store.ts";
import type { PostgresDatabase } from "./database.ts";
import { endSessions } from "./credential_revocation.ts";

/**
 * The most sessions of one account; the oldest makes room. A person has a few, and each leaves
 * rows.
 */
export const maxSessions = 50;

interface SessionRow {
  readonly id: string;
  readonly account_id: string;
  readonly plan: string;
  readonly suspended: boolean;
  readonly address_lost: boolean;
  readonly expires_at: Date;
}

export function createSessionStore({ sql, run, transact }: PostgresDatabase): SessionStore {
  return {
    openSession: ({ id, accountId, passwordHash, secretHash, expiresAtMs, atMs, actor }) =>
      transact(async (sql) => {
        const at = new Date(atMs);
        const [owner] = await sql`
          SELECT 1 FROM accounts
          WHERE id = ${accountId} AND password_hash = ${passwordHash} AND suspended_at IS NULL AND deleted_at IS NULL
          FOR NO KEY UPDATE`;
        if (owner === undefined) return false;
        const { count: replaced } = await sql`
          UPDATE sessions SET ended_at = ${at} WHERE id IN (
            SELECT id FROM sessions WHERE account_id = ${accountId} AND ended_at IS NULL AND expires_at > ${at}
            ORDER BY created_at DESC, id OFFSET ${maxSessions - 1})`;
        await sql`
          INSERT INTO sessions (id, account_id, secret_hash, created_at, expires_at)
          VALUES (${id}, ${accountId}, ${secretHash}, ${at}, ${new Date(expiresAtMs)})`;
        const details = replaced === 0 ? null : JSON.stringify({ sessions_ended: replaced });
        await sql`
          SELECT audit_append(${at}, 'session.opened', ${actor}, ${accountId}, ${id}, ${details}::text::jsonb)`;
        return true;
      }),

    findSession: async (secretHash, atMs) => {
      const [row] = await run(sql<SessionRow[]>`
        SELECT s.id, s.account_id, a.plan, a.suspended_at IS NOT NULL AS suspended,
               a.address_lost_at IS NOT NULL AS address_lost, s.expires_at
        FROM sessions s JOIN accounts a ON a.id = s.account_id
        WHERE s.secret_hash = ${secretHash} AND a.deleted_at IS NULL AND s.ended_at IS NULL AND s.expires_at > ${new Date(
        atMs,
      )}`);
      if (row === undefined) return undefined;
      const { id, plan, suspended: isSuspended, address_lost: hasLostAddress } = row;
      const accountId = parseAccountId(row.account_id);
      return {
        id,
        accountId,
        plan,
        isSuspended,
        hasLostAddress,
        expiresAtMs: row.expires_at.getTime(),
      };
    },

    listSessions: (accountId, atMs) => listSessions({ sql, run }, accountId, atMs),

    endSession: async ({ id, accountId }, { atMs, actor }) => {
      const at = new Date(atMs);
      const { count } = await run(sql`
        WITH ended AS (
          UPDATE sessions SET ended_at = ${at}
          WHERE id = ${id} AND account_id = ${accountId} AND ended_at IS NULL AND expires_at > ${at}
          RETURNING id, account_id)
        SELECT audit_append(${at}, 'session.ended', ${actor}, account_id, id) FROM ended`);
      return count === 1;
    },

    endSessions: (accountId, { atMs, actor }) =>
      transact(async (sql) => {
        const at = new Date(atMs);
        await sql`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
        const count = await endSessions(sql, accountId, at);
        if (count === 0) return 0;
        const details = JSON.stringify({ sessions_ended: count });
        await sql`
          SELECT audit_append(${at}, 'account.sessions_ended', ${actor}, ${accountId}, NULL, ${details}::text::jsonb)`;
        return count;
      }),
  };
}

async function listSessions(
  { sql, run }: Pick<PostgresDatabase, "sql" | "run">,
  accountId: AccountId,
  atMs: number,
): Promise<readonly OpenSession[]> {
  const rows = await run(sql<{ id: string; created_at: Date; expires_at: Date }[]>`
    SELECT id, created_at, expires_at FROM sessions
    WHERE account_id = ${accountId} AND ended_at IS NULL AND expires_at > ${new Date(atMs)}
    ORDER BY created_at DESC, id`);
  return rows.map(({ id, created_at, expires_at }) => ({
    id,
    createdAtMs: created_at.getTime(),
    expiresAtMs: expires_at.getTime(),
  }));
}
