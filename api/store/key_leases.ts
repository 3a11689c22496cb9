/**
 * Leases under a key of its own: the month of the account and that of the key pay together, and
 * neither passes its limit. Two rows cannot be computed from each other in one statement, so this
 * is a transaction; locks are taken as everywhere, the account's row before the key's.
 */
import type { LeaseGrant } from "../domain/deps.ts";
import type { Transaction } from "./database.ts";
import type { GrantedRow } from "./lease_rows.ts";

interface LeaseLimitRow {
  readonly plan: string;
  readonly account_limit: number | null;
  readonly key_limit: number | null;
}

/**
 * Undefined when nothing is left, or there is no such account or key. A key that was revoked still
 * pays for its tokens.
 */
export async function claimForKey(
  sql: Transaction,
  grant: LeaseGrant,
  keyId: string,
): Promise<GrantedRow | undefined> {
  const { accountId, wanted } = grant;
  const period = new Date(grant.periodStartMs);
  const [limits] = await sql<LeaseLimitRow[]>`
    SELECT a.plan, coalesce(a.message_limit, p.message_limit) AS account_limit, k.message_limit AS key_limit
    FROM accounts a JOIN plans p ON p.name = a.plan JOIN api_keys k ON k.account_id = a.id
    WHERE a.id = ${accountId} AND k.id = ${keyId} AND a.deleted_at IS NULL
      AND (a.suspended_at IS NULL OR ${wanted === 0})`;
  if (limits === undefined) return undefined;
  const claimed = await lockMonth(sql, { accountId, keyId, period });
  const granted = Math.min(
    wanted,
    left(limits.account_limit, claimed.account),
    left(limits.key_limit, claimed.key),
  );
  if (granted === 0 && wanted > 0) return undefined;
  const [lease] = await sql<Omit<GrantedRow, "plan" | "claimed" | "message_limit">[]>`
    INSERT INTO leases (id, nonce, relay_id, account_id, key_id, period_start, granted, granted_at, expires_at)
    VALUES (${grant.id}, ${grant.nonce}, ${grant.relayId}, ${accountId}, ${keyId}, ${period}, ${granted},
            ${new Date(grant.grantedAtMs)}, ${new Date(grant.expiresAtMs)})
    RETURNING id, fence, account_id, period_start, granted, consumed, expires_at`;
  if (lease === undefined) throw new Error("Granting a lease returned no row");
  await sql`
    UPDATE usage SET claimed = claimed + ${granted}, last_granted = ${granted}
    WHERE account_id = ${accountId} AND period_start = ${period}`;
  await sql`
    UPDATE key_usage SET claimed = claimed + ${granted} WHERE key_id = ${keyId} AND period_start = ${period}`;
  const ofAccount = { claimed: claimed.account + granted, message_limit: limits.account_limit };
  const ofKey = { claimed: claimed.key + granted, message_limit: limits.key_limit };
  return { ...lease, plan: limits.plan, ...(share(ofKey) > share(ofAccount) ? ofKey : ofAccount) };
}

async function lockMonth(
  sql: Transaction,
  { accountId, keyId, period }: { accountId: string; keyId: string; period: Date },
): Promise<{ account: number; key: number }> {
  await sql`
    INSERT INTO usage (account_id, period_start, claimed, last_granted) VALUES (${accountId}, ${period}, 0, 0)
    ON CONFLICT DO NOTHING`;
  const [account] = await sql<{ claimed: number }[]>`
    SELECT claimed FROM usage WHERE account_id = ${accountId} AND period_start = ${period} FOR UPDATE`;
  await sql`INSERT INTO key_usage (key_id, period_start) VALUES (${keyId}, ${period}) ON CONFLICT DO NOTHING`;
  const [key] = await sql<{ claimed: number }[]>`
    SELECT claimed FROM key_usage WHERE key_id = ${keyId} AND period_start = ${period} FOR UPDATE`;
  return { account: account?.claimed ?? 0, key: key?.claimed ?? 0 };
}

function left(limit: number | null, claimed: number): number {
  return limit === null ? Infinity : Math.max(0, limit - claimed);
}

function share(
  { claimed, message_limit }: { claimed: number; message_limit: number | null },
): number {
  return message_limit === null ? 0 : claimed / Math.max(1, message_limit);
}
