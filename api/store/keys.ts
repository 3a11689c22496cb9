/** API keys in SQL. */
import { parseAccountId, parseKeyId } from "../../proto/mod.ts";
import type { KeyStore, StoredKey } from "../domain/deps.ts";
import { createBatchedLookup } from "./batch.ts";
import { arrayText, type Database } from "./database.ts";

interface ListedRow {
  readonly id: string;
  readonly key_prefix: string;
  readonly name: string;
  readonly last_used_at: Date | null;
  readonly created_at: Date;
}

interface FoundRow {
  readonly id: string;
  readonly key_prefix: string;
  readonly account_id: string;
  readonly plan: string;
  readonly key_hash: string;
  readonly revoked: boolean;
}

export function createKeyStore(database: Database): KeyStore {
  const { sql, run, transact, violatedConstraint } = database;
  return {
    addKey: async (key, { accountId, by, maxActiveKeys }) => {
      try {
        return await transact(async (sql) => {
          // Locks out other additions to this account; the count below is a new statement, so it sees theirs.
          await sql`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
          if (by !== undefined) {
            // A revocation waits until this is done, or was before it: a revoked key leaves no other one behind.
            const [active] = await sql`SELECT 1 FROM api_keys WHERE id = ${by} AND revoked_at IS NULL FOR SHARE`;
            if (active === undefined) return "revoked";
          }
          const { count } = await sql`
            INSERT INTO api_keys (id, account_id, key_prefix, name, key_hash, created_at)
            SELECT ${key.id}::uuid, ${accountId}::uuid, ${key.keyPrefix}::text, ${key.name}::text, ${key.keyHash}::text,
                   ${new Date(key.createdAtMs)}::timestamptz
            WHERE (SELECT count(*) FROM api_keys WHERE account_id = ${accountId} AND revoked_at IS NULL)
                  < ${maxActiveKeys}`;
          return count === 1 ? "added" : "limit_reached";
        });
      } catch (error) {
        if (violatedConstraint(error) === "api_keys_key_prefix") return "prefix_taken";
        throw error;
      }
    },

    listKeys: async (accountId) => {
      const rows = await run(sql<ListedRow[]>`
        SELECT id, key_prefix, name, last_used_at, created_at FROM api_keys
        WHERE account_id = ${accountId} AND revoked_at IS NULL ORDER BY created_at DESC, id`);
      return rows.map((row) => ({
        id: parseKeyId(row.id),
        keyPrefix: row.key_prefix,
        name: row.name,
        lastUsedAtMs: row.last_used_at?.getTime() ?? null,
        createdAtMs: row.created_at.getTime(),
      }));
    },

    revokeKey: async (accountId, keyId, atMs) => {
      const { count } = await run(sql`
        UPDATE api_keys SET revoked_at = ${new Date(atMs)}
        WHERE id = ${keyId} AND account_id = ${accountId} AND revoked_at IS NULL`);
      return count === 1;
    },

    findKey: createBatchedLookup((keyPrefixes) => findKeys(database, keyPrefixes)),

    recordUse: async (keyIds, atMs, minAgeMs) => {
      await run(sql`
        UPDATE api_keys SET last_used_at = ${new Date(atMs)}
        WHERE id = ANY(${arrayText(keyIds)}::text::uuid[])
          AND (last_used_at IS NULL OR last_used_at <= ${new Date(atMs - minAgeMs)})`);
    },
  };
}

/** Prefixes are base62 and underscores by their parser, so they need no quoting in the array's text form. */
async function findKeys({ sql, run }: Database, keyPrefixes: readonly string[]): Promise<Map<string, StoredKey>> {
  const rows = await run(sql<FoundRow[]>`
    SELECT k.id, k.key_prefix, k.account_id, a.plan, k.key_hash, k.revoked_at IS NOT NULL AS revoked
    FROM api_keys k JOIN accounts a ON a.id = k.account_id
    WHERE k.key_prefix = ANY(${arrayText(keyPrefixes)}::text::text[])`);
  return new Map(rows.map((row) => [row.key_prefix, {
    id: parseKeyId(row.id),
    accountId: parseAccountId(row.account_id),
    plan: row.plan,
    keyHash: row.key_hash,
    revoked: row.revoked,
  }]));
}
