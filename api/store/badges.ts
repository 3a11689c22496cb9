/** Badges of agents in SQL: of each agent the latest, until it has expired. */
import { parseAgentId, parseKeyId } from "../../proto/mod.ts";
import type { AgentBadge, BadgeOrder, BadgeStore } from "../domain/badges.ts";
import type { PostgresDatabase, Transaction } from "./database.ts";
import { lockMaker } from "./keys.ts";

interface BadgeRow {
  readonly agent_id: string;
  readonly badge: Uint8Array;
  readonly mail_domain: string | null;
  readonly issued_at: Date;
  readonly expires_at: Date;
  readonly key_id: string | null;
}

export function createBadgeStore({ sql, run, transact }: PostgresDatabase): BadgeStore {
  return {
    issueBadge: (order) => transact((sql) => issue(sql, order)),

    listBadges: async (accountId, atMs) => {
      const rows = await run(sql<BadgeRow[]>`
        SELECT agent_id, badge, mail_domain, issued_at, expires_at, key_id FROM badges
        WHERE account_id = ${accountId} AND expires_at > ${new Date(atMs)}
        ORDER BY issued_at DESC, agent_id`);
      return rows.map(toBadge);
    },
  };
}

/**
 * The account's row is locked, so that what is counted is the number that there will be. The agent
 * whose badge is the oldest makes room: it keeps the badge, which nobody can call back.
 */
async function issue(
  sql: Transaction,
  order: BadgeOrder,
): Promise<AgentBadge | "revoked"> {
  const { accountId, agentId, maxAgents, actor } = order;
  if (await lockMaker(sql, order) !== undefined) return "revoked";
  const at = new Date(order.atMs);
  const [account] = await sql<{ email: string | null }[]>`
    SELECT CASE WHEN email_verified_at IS NOT NULL THEN email END AS email FROM accounts
    WHERE id = ${accountId}`;
  const [row] = await sql<BadgeRow[]>`
    SELECT agent_id, badge, mail_domain, issued_at, expires_at, key_id FROM badges
    WHERE account_id = ${accountId} AND agent_id = ${agentId} AND expires_at > ${at}`;
  const held = row && toBadge(row);
  const badge = order.make({ verifiedEmail: account?.email ?? undefined }, held);
  if (badge === held) return badge;
  const expiresAt = new Date(badge.expiresAtMs);
  await sql`
    DELETE FROM badges WHERE account_id = ${accountId} AND agent_id IN (
      SELECT agent_id FROM badges WHERE account_id = ${accountId} AND agent_id <> ${agentId}
      ORDER BY issued_at DESC, agent_id OFFSET ${maxAgents - 1})`;
  await sql`
    INSERT INTO badges (account_id, agent_id, badge, mail_domain, key_id, issued_at, expires_at)
    VALUES (${accountId}, ${agentId}, ${badge.bytes}, ${badge.mailDomain}, ${badge.keyId}, ${at},
            ${expiresAt})
    ON CONFLICT (account_id, agent_id) DO UPDATE SET badge = excluded.badge,
      mail_domain = excluded.mail_domain, key_id = excluded.key_id, issued_at = excluded.issued_at,
      expires_at = excluded.expires_at`;
  const details = JSON.stringify({
    agent_id: agentId,
    expires_at: expiresAt.toISOString(),
    ...(badge.mailDomain !== null && { mail_domain: badge.mailDomain }),
  });
  await sql`
    SELECT audit_append(${at}, 'badge.issued', ${actor}, ${accountId}, NULL, ${details}::text::jsonb)`;
  return badge;
}

/** Rows of the table were checked when they were written. */
function toBadge(row: BadgeRow): AgentBadge {
  return {
    agentId: parseAgentId(row.agent_id),
    bytes: new Uint8Array(row.badge),
    mailDomain: row.mail_domain,
    issuedAtMs: row.issued_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    keyId: row.key_id === null ? null : parseKeyId(row.key_id),
  };
}
