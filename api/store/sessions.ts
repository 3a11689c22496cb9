/** Sessions of the console in SQL. */
import { parseAccountId } from "../../proto/mod.ts";
import type { SessionStore } from "../domain/account_store.ts";
import type { Database } from "./database.ts";

interface SessionRow {
  readonly id: string;
  readonly account_id: string;
  readonly plan: string;
  readonly suspended: boolean;
  readonly address_lost: boolean;
  readonly expires_at: Date;
}

export function createSessionStore({ sql, run }: Database): SessionStore {
  return {
    openSession: async ({ id, accountId, passwordHash, secretHash, expiresAtMs, atMs, actor }) => {
      const at = new Date(atMs);
      const { count } = await run(sql`
        WITH owner AS (
          SELECT id FROM accounts
          WHERE id = ${accountId} AND password_hash = ${passwordHash} AND suspended_at IS NULL AND deleted_at IS NULL
          FOR SHARE),
        session AS (
          INSERT INTO sessions (id, account_id, secret_hash, created_at, expires_at)
          SELECT ${id}::uuid, owner.id, ${secretHash}::bytea, ${at}::timestamptz, ${new Date(expiresAtMs)}::timestamptz
          FROM owner RETURNING id, account_id)
        SELECT audit_append(${at}, 'session.opened', ${actor}, account_id, id) FROM session`);
      return count === 1;
    },

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
      return { id, accountId, plan, isSuspended, hasLostAddress, expiresAtMs: row.expires_at.getTime() };
    },

    endSession: async (id, { atMs, actor }) => {
      const { count } = await run(sql`
        WITH ended AS (
          UPDATE sessions SET ended_at = ${new Date(
        atMs,
      )} WHERE id = ${id} AND ended_at IS NULL RETURNING id, account_id)
        SELECT audit_append(${new Date(atMs)}, 'session.ended', ${actor}, account_id, id) FROM ended`);
      return count === 1;
    },

    endSessions: async (accountId, { atMs, actor }) => {
      const { count } = await run(sql`
        WITH ended AS (
          UPDATE sessions SET ended_at = ${new Date(atMs)}
          WHERE account_id = ${accountId} AND ended_at IS NULL AND expires_at > ${new Date(
        atMs,
      )} RETURNING id, account_id)
        SELECT audit_append(${new Date(atMs)}, 'session.ended', ${actor}, account_id, id) FROM ended`);
      return count;
    },
  };
}
