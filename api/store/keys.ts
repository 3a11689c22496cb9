/** API keys in SQL. Each change adds its row to the audit in the same transaction, last. */
import { parseAccountId, parseChannelId, parseKeyId } from "../../proto/mod.ts";
import type {
  KeyAddition,
  KeyRecord,
  KeyRotation,
  KeyStore,
  NewKey,
  StoredKey,
  StoredRotation,
} from "../domain/deps.ts";
import {
  type KeyKind,
  type KeyOptions,
  type KeyPermissions,
  type StoredKeyOptions,
} from "../domain/key_permissions.ts";
import { createBatchedLookup } from "./batch.ts";
import { arrayText, type PostgresDatabase, type Transaction } from "./database.ts";

interface KeyOptionColumns {
  readonly kind: KeyKind;
  readonly expires_at: Date | null;
  readonly powers: KeyPermissions | null;
  readonly channel_id: string | null;
  readonly message_limit: number | null;
}

interface ListedRow extends KeyOptionColumns {
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
  readonly key_hash: string | null;
  readonly revoked: boolean;
  /** As JSON, and only of keys that have any: the row of a plain key stays small. */
  readonly traits:
    | Omit<KeyOptionColumns, "expires_at"> & { expires_at_ms: number | null; counted_as: string }
    | null;
  readonly suspended: boolean;
  readonly address_lost: boolean;
  readonly near_limit: string | null;
}

export function createKeyStore(database: PostgresDatabase): KeyStore {
  const { sql, run, transact, violatedConstraint } = database;
  const adding = async <Outcome>(
    work: (sql: Transaction) => Promise<Outcome>,
  ): Promise<Outcome | "prefix_taken"> => {
    try {
      return await transact(work);
    } catch (error) {
      if (violatedConstraint(error) === "api_keys_key_prefix") return "prefix_taken";
      throw error;
    }
  };
  return {
    addKey: (key, addition) =>
      adding(async (sql) => {
        const refusal = await lockMaker(sql, addition);
        if (refusal !== undefined) return refusal;
        if (!await insertKey(sql, key, addition)) return "limit_reached";
        await auditKey(sql, "key.created", addition, key);
        return "added";
      }),

    rotateKey: (rotation) => adding((sql) => rotate(sql, rotation)),

    listKeys: async (accountId, atMs) => {
      const rows = await run(sql<ListedRow[]>`
        SELECT id, key_prefix, name, last_used_at, created_at, kind, expires_at, powers, channel_id, message_limit
        FROM api_keys
        WHERE account_id = ${accountId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${new Date(
        atMs,
      )})
        ORDER BY created_at DESC, id`);
      return rows.map(toRecord);
    },

    revokeKey: async (accountId, keyId, { atMs, actor }) => {
      const { count } = await run(sql`
        WITH revoked AS (
          UPDATE api_keys SET revoked_at = ${new Date(atMs)}
          WHERE id = ${keyId} AND account_id = ${accountId} AND revoked_at IS NULL RETURNING id, account_id)
        SELECT audit_append(${new Date(
        atMs,
      )}, 'key.revoked', ${actor}, account_id, id) FROM revoked`);
      return count === 1;
    },

    findKey: createBatchedLookup((keyPrefixes) => findKeys(database, keyPrefixes)),

    recordUse: async (keyIds, atMs, minAgeMs) => {
      // Locked in the order in which the keys of an account are revoked.
      await run(sql`
        WITH due AS MATERIALIZED (
          SELECT id FROM api_keys
          WHERE id = ANY(${arrayText(keyIds)}::text::uuid[])
            AND (last_used_at IS NULL OR last_used_at <= ${new Date(atMs - minAgeMs)})
          ORDER BY id FOR NO KEY UPDATE)
        UPDATE api_keys k SET last_used_at = ${new Date(atMs)} FROM due WHERE k.id = due.id`);
    },
  };
}

/**
 * Locks out other additions of keys and badges to this account; what is counted afterwards is a new
 * statement, so it sees theirs. A revocation of the credential that asks waits until this is done,
 * or was before it: one that has ended leaves no key behind.
 */
export async function lockMaker(
  sql: Transaction,
  { accountId, by: { keyId, sessionId, passwordHash }, atMs }: Pick<
    KeyAddition,
    "accountId" | "by" | "atMs"
  >,
): Promise<"revoked" | undefined> {
  const [account] = await sql`
    SELECT 1 FROM accounts WHERE id = ${accountId} AND deleted_at IS NULL
      AND (${passwordHash === undefined} OR (password_hash = ${
    passwordHash ?? null
  } AND suspended_at IS NULL))
    FOR NO KEY UPDATE`;
  if (account === undefined) return "revoked";
  const now = new Date(atMs);
  if (keyId !== undefined) {
    const [active] = await sql`
      SELECT 1 FROM api_keys
      WHERE id = ${keyId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now}) FOR SHARE`;
    if (active === undefined) return "revoked";
  }
  if (sessionId !== undefined) {
    const [open] = await sql`
      SELECT 1 FROM sessions WHERE id = ${sessionId} AND ended_at IS NULL AND expires_at > ${now} FOR SHARE`;
    if (open === undefined) return "revoked";
  }
  return undefined;
}

/** False when the account has as many as it may. */
async function insertKey(
  sql: Transaction,
  key: NewKey,
  { accountId, atMs, maxActiveKeys, maxGuests }: KeyAddition,
  { countedAs = null, inPlaceOf = null }: {
    readonly countedAs?: string | null;
    readonly inPlaceOf?: string | null;
  } = {},
): Promise<boolean> {
  const { kind, expiresAtMs, powers, channelId, messageLimit } = key.traits;
  const isGuest = kind === "guest";
  const { count } = await sql`
    INSERT INTO api_keys (id, account_id, key_prefix, name, key_hash, created_at, kind, expires_at, powers, channel_id,
                          message_limit, counted_as)
    SELECT ${key.id}::uuid, ${accountId}::uuid, ${key.keyPrefix}::text, ${key.name}::text, ${key.keyHash}::text,
           ${new Date(key.createdAtMs)}::timestamptz, ${kind}::text,
           ${expiresAtMs === null ? null : new Date(expiresAtMs)}::timestamptz,
           ${
    powers === null ? null : JSON.stringify(powers)
  }::text::jsonb, ${channelId}::text, ${messageLimit}::bigint,
           ${countedAs}::uuid
    WHERE (SELECT count(*) FROM api_keys
           WHERE account_id = ${accountId} AND revoked_at IS NULL AND (kind = 'guest') = ${isGuest}
             AND (expires_at IS NULL OR expires_at > ${new Date(
    atMs,
  )}) AND id IS DISTINCT FROM ${inPlaceOf}::uuid)
          < ${isGuest ? maxGuests : maxActiveKeys}`;
  return count === 1;
}

async function auditKey(
  sql: Transaction,
  event: string,
  { accountId, atMs, actor }: KeyAddition,
  key: NewKey,
): Promise<void> {
  const details = JSON.stringify({ kind: key.traits.kind });
  await sql`
    SELECT audit_append(${new Date(
    atMs,
  )}, ${event}, ${actor}, ${accountId}, ${key.id}, ${details}::text::jsonb)`;
}

async function rotate(sql: Transaction, rotation: KeyRotation): ReturnType<KeyStore["rotateKey"]> {
  const { accountId, keyId, atMs, overlapMs, successor } = rotation;
  const refusal = await lockMaker(sql, rotation);
  if (refusal !== undefined) return refusal;
  const [old] = await sql<
    (ListedRow & { replaced_by: string | null; counted_as: string | null })[]
  >`
    SELECT id, name, kind, expires_at, powers, channel_id, message_limit, replaced_by, counted_as FROM api_keys
    WHERE id = ${keyId} AND account_id = ${accountId} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${new Date(atMs)}) FOR UPDATE`;
  if (old === undefined) return "not_found";
  if (old.replaced_by !== null) return "conflict";
  const traits = toTraits(old);
  if (!rotation.mayMake(traits)) return "beyond";
  const key: NewKey = { ...successor, name: old.name, traits };
  // One that ends now leaves its place.
  const inPlaceOf = overlapMs === 0 ? old.id : null;
  const isAdded = await insertKey(sql, key, rotation, {
    countedAs: old.counted_as ?? old.id,
    inPlaceOf,
  });
  if (!isAdded) return "limit_reached";
  const oldExpiresAtMs = Math.min(traits.expiresAtMs ?? Infinity, atMs + overlapMs);
  await sql`
    UPDATE api_keys SET replaced_by = ${key.id}, expires_at = ${new Date(
    oldExpiresAtMs,
  )} WHERE id = ${keyId}`;
  const details = JSON.stringify({ successor: key.id });
  await sql`
    SELECT audit_append(${new Date(
    atMs,
  )}, 'key.rotated', ${rotation.actor}, ${accountId}, ${keyId}, ${details}::text::jsonb)`;
  return { name: old.name, traits, oldExpiresAtMs } satisfies StoredRotation;
}

/**
 * Prefixes are base62 and underscores by their parser, so they need no quoting in the array's text
 * form.
 */
async function findKeys(
  { sql, run }: PostgresDatabase,
  keyPrefixes: readonly string[],
): Promise<Map<string, StoredKey>> {
  const rows = await run(sql<FoundRow[]>`
    SELECT k.id, k.key_prefix, k.account_id, a.plan, k.key_hash, k.revoked_at IS NOT NULL AS revoked,
           a.suspended_at IS NOT NULL AS suspended, a.address_lost_at IS NOT NULL AS address_lost,
           CASE WHEN k.kind <> 'secret' OR k.expires_at IS NOT NULL OR k.powers IS NOT NULL OR k.message_limit IS NOT NULL
                THEN jsonb_build_object('kind', k.kind, 'expires_at_ms', round(extract(epoch FROM k.expires_at) * 1000),
                       'powers', k.powers, 'channel_id', k.channel_id, 'message_limit', k.message_limit,
                       'counted_as', coalesce(k.counted_as, k.id)) END AS traits,
           (SELECT claimed || '/' || message_limit
            FROM (VALUES (ku.claimed, k.message_limit),
                         (CASE WHEN k.kind = 'secret' AND (k.powers IS NULL OR k.powers->'scopes' ? 'usage:read')
                               THEN u.claimed END, coalesce(a.message_limit, p.message_limit))) AS s (claimed, message_limit)
            WHERE claimed >= 0.8 * message_limit
            ORDER BY claimed::numeric / greatest(message_limit, 1) DESC LIMIT 1) AS near_limit
    FROM api_keys k JOIN accounts a ON a.id = k.account_id JOIN plans p ON p.name = a.plan
    LEFT JOIN usage u ON u.account_id = a.id AND u.period_start = date_trunc('month', now(), 'UTC')
    LEFT JOIN key_usage ku ON k.message_limit IS NOT NULL AND ku.key_id = coalesce(k.counted_as, k.id)
      AND ku.period_start = date_trunc('month', now(), 'UTC')
    WHERE k.key_prefix = ANY(${arrayText(keyPrefixes)}::text::text[])`);
  return new Map(rows.map((row) => [row.key_prefix, {
    id: parseKeyId(row.id),
    accountId: parseAccountId(row.account_id),
    plan: row.plan,
    keyHash: row.key_hash ?? undefined,
    revoked: row.revoked,
    traits: row.traits === null ? undefined : heldTraits(row.traits),
    suspended: row.suspended,
    addressLost: row.address_lost,
    nearLimit: row.near_limit ?? undefined,
  }]));
}

function heldTraits(
  { expires_at_ms, counted_as, ...rest }: NonNullable<FoundRow["traits"]>,
): StoredKeyOptions {
  const expires_at = expires_at_ms === null ? null : new Date(expires_at_ms);
  return { ...toTraits({ ...rest, expires_at }), countedAs: parseKeyId(counted_as) };
}

function toRecord(row: ListedRow): KeyRecord {
  return {
    id: parseKeyId(row.id),
    keyPrefix: row.key_prefix,
    name: row.name,
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
    createdAtMs: row.created_at.getTime(),
    traits: toTraits(row),
  };
}

/** Rows of the table were checked when they were written. */
function toTraits(
  { kind, expires_at, powers, channel_id, message_limit }: KeyOptionColumns,
): KeyOptions {
  return {
    kind,
    expiresAtMs: expires_at?.getTime() ?? null,
    powers,
    channelId: channel_id === null ? null : parseChannelId(channel_id),
    messageLimit: message_limit,
  };
}
