/**
 * Deletion of expired rows, in SQL. Rows that somebody else works with are left for the next time,
 * so that nobody waits.
 */
import type { ExpiryStore } from "../domain/account_store.ts";
import type { PostgresDatabase } from "./database.ts";

/** At a time, of each kind: one statement stays short. */
const maxRows = 5_000;

export function createExpiryStore({ sql, run }: PostgresDatabase): ExpiryStore {
  return {
    forgetExpired: async (atMs) => {
      const at = new Date(atMs);
      for (const table of ["mail_queue", "mail_codes", "sessions"]) {
        await run(sql`
          DELETE FROM ${sql(table)} WHERE id IN (
            SELECT id FROM ${
          sql(table)
        } WHERE expires_at <= ${at} LIMIT ${maxRows} FOR UPDATE SKIP LOCKED)`);
      }
      await run(sql`
        DELETE FROM badges WHERE (account_id, agent_id) IN (
          SELECT account_id, agent_id FROM badges WHERE expires_at <= ${at}
          LIMIT ${maxRows} FOR UPDATE SKIP LOCKED)`);
      // By the database's own clock, like everything about them.
      await run(sql`
        DELETE FROM rate_buckets WHERE key IN (
          SELECT key FROM rate_buckets WHERE until <= clock_timestamp()
          LIMIT ${maxRows} FOR UPDATE SKIP LOCKED)`);
      // Else the keys that an account may still add would be counted among all that it ever had.
      await run(sql`
        UPDATE api_keys SET revoked_at = expires_at WHERE id IN (
          SELECT id FROM api_keys WHERE revoked_at IS NULL AND expires_at <= ${at}
          LIMIT ${maxRows} FOR UPDATE SKIP LOCKED)`);
    },
  };
}
