/**
 * Endings of keys, sessions and codes together with an account's password, address or rights. The
 * caller has locked the account's row before, and adds to the audit after: everybody waits for the
 * one who holds its head, so nothing may be waited for behind it.
 */
import { arrayText, type Transaction } from "./database.ts";

/** Returns how many were open. */
export async function endSessions(sql: Transaction, accountId: string, at: Date): Promise<number> {
  const { count } = await sql`
    UPDATE sessions SET ended_at = ${at} WHERE account_id = ${accountId} AND ended_at IS NULL AND expires_at > ${at}`;
  return count;
}

/** Returns how many were active. */
export async function revokeKeys(sql: Transaction, accountId: string, at: Date): Promise<number> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM api_keys WHERE account_id = ${accountId} AND revoked_at IS NULL ORDER BY id FOR NO KEY UPDATE`;
  if (rows.length > 0) {
    await sql`
      UPDATE api_keys SET revoked_at = ${at} WHERE id = ANY(${
      arrayText(rows.map(({ id }) => id))
    }::text::uuid[])`;
  }
  return rows.length;
}
