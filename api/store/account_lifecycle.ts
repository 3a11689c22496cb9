/**
 * The life of accounts, in SQL. Each change is one transaction that locks the account's row first
 * and adds to the audit last. An address belongs to at most one account: taking it from one that
 * never proved it and giving it to another are one.
 */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import type {
  AccountLifecycleStore,
  AccountState,
  AddressProof,
  CredentialRevocation,
  NewCode,
  Proof,
} from "../domain/account_store.ts";
import type { AuditStamp } from "../domain/deps.ts";
import { insertAccount } from "./accounts.ts";
import type { PostgresDatabase, Transaction } from "./database.ts";
import { endSessions, revokeKeys } from "./credential_revocation.ts";
import { insertMessage } from "./mail.ts";

interface StateRow {
  readonly id: string;
  readonly email: string | null;
  readonly verified: boolean;
  readonly pending_email: string | null;
  readonly plan: string;
  readonly created_at: Date;
  readonly suspended: boolean;
  readonly address_lost: boolean;
  readonly version: number;
}

export function createAccountLifeStore(database: PostgresDatabase): AccountLifecycleStore {
  return { ...createReading(database), ...createChanges(database) };
}

type AccountLookups = Pick<
  AccountLifecycleStore,
  "readAccount" | "findLogin" | "isAddressVerified" | "hasCode" | "addCode" | "addMessage"
>;

function createReading({ sql, run, transact }: PostgresDatabase): AccountLookups {
  return {
    readAccount: async (accountId, atMs) => {
      const [row] = await run(sql<StateRow[]>`
        SELECT a.id, a.email, a.email_verified_at IS NOT NULL AS verified, a.plan, a.created_at, a.version,
               a.suspended_at IS NOT NULL AS suspended, a.address_lost_at IS NOT NULL AS address_lost,
               (SELECT email FROM mail_codes WHERE account_id = a.id AND purpose = 'change' AND expires_at > ${new Date(
        atMs,
      )}
                ORDER BY expires_at DESC LIMIT 1) AS pending_email
        FROM accounts a WHERE a.id = ${accountId} AND a.deleted_at IS NULL`);
      return row === undefined ? undefined : toState(row);
    },

    findLogin: async (by) => {
      const [row] = await run(
        sql<
          {
            id: string;
            email: string | null;
            password_hash: string;
            suspended: boolean;
            verified: boolean;
          }[]
        >`
          SELECT id, email, password_hash, suspended_at IS NOT NULL AS suspended, email_verified_at IS NOT NULL AS verified
          FROM accounts
          WHERE password_hash IS NOT NULL AND ${
          "id" in by ? sql`id = ${by.id}` : sql`email_key = ${by.emailKey}`
        }`,
      );
      if (row === undefined) return undefined;
      const { password_hash: passwordHash, suspended: isSuspended, verified: isVerified } = row;
      return {
        id: parseAccountId(row.id),
        email: row.email,
        passwordHash,
        isSuspended,
        isVerified,
      };
    },

    isAddressVerified: async (emailKey) => {
      const [row] = await run(sql`
        SELECT 1 FROM accounts WHERE email_key = ${emailKey} AND email_verified_at IS NOT NULL`);
      return row !== undefined;
    },

    hasCode: async ({ purpose, emailKey, codeHash, atMs }) => {
      const [row] = await run(sql`
        SELECT 1 FROM mail_codes WHERE email_key = ${emailKey} AND purpose = ${purpose} AND code_hash = ${codeHash}
          AND expires_at > ${new Date(atMs)}`);
      return row !== undefined;
    },

    addCode: (code, message, { version, passwordHash, quietMs } = {}) =>
      transact(async (sql) => {
        if (code.accountId !== null) {
          const [row] = await sql`
            SELECT 1 FROM accounts WHERE id = ${code.accountId} AND deleted_at IS NULL
              AND (${version === undefined} OR version = ${version ?? null}::bigint)
              AND (${passwordHash === undefined} OR password_hash = ${passwordHash ?? null})
            FOR NO KEY UPDATE`;
          if (row === undefined) return "conflict";
        }
        if (quietMs !== undefined && await hasRecentCode(sql, code, quietMs)) return "recent";
        if (!await insertMessage(sql, message)) return "full";
        await sql`
          INSERT INTO mail_codes (id, purpose, email, email_key, account_id, code_hash, expires_at)
          VALUES (${code.id}, ${code.purpose}, ${code.email}, ${code.emailKey}, ${code.accountId}, ${code.codeHash},
                  ${new Date(code.expiresAtMs)})`;
        // Its owner sees it: of two who have read the same version one is told.
        if (code.purpose === "change") {
          await sql`UPDATE accounts SET version = version + 1 WHERE id = ${code.accountId}`;
        }
        return "added";
      }),

    addMessage: (message) =>
      transact(async (sql) => await insertMessage(sql, message) ? "added" : "full"),
  };
}

/** All codes live equally long, so their ends tell when they were made. */
async function hasRecentCode(sql: Transaction, code: NewCode, quietMs: number): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM mail_codes WHERE account_id = ${code.accountId} AND purpose = ${code.purpose}
      AND expires_at > ${new Date(code.expiresAtMs - quietMs)}`;
  return row !== undefined;
}

function createChanges(
  { transact, violatedConstraint }: PostgresDatabase,
): Omit<AccountLifecycleStore, keyof AccountLookups> {
  /** Somebody signed up with the address between the look and the change. */
  const unlessTaken = async <T>(work: Promise<T>): Promise<T | "email_taken"> => {
    try {
      return await work;
    } catch (error) {
      if (violatedConstraint(error) === "accounts_email_key") return "email_taken";
      throw error;
    }
  };
  return {
    changePassword: ({ accountId, oldHash, newHash, revokeKeys, ...act }) =>
      transact(async (sql) => {
        const { count } = await sql`
          UPDATE accounts SET password_hash = ${newHash}, version = version + 1
          WHERE id = ${accountId} AND password_hash = ${oldHash}`;
        if (count === 0) return "conflict";
        await voidCodes(sql, accountId);
        const endings = await endAll(sql, { accountId, revokeKeys, ...act });
        await auditEndings(sql, "account.password_changed", accountId, { endings, ...act });
        return endings;
      }),

    confirmAddress: (proof) => unlessTaken(transact((sql) => confirmAddress(sql, proof))),

    reset: ({ emailKey, codeHash, newHash, revokeKeys, ...act }) =>
      transact(async (sql) => {
        const [row] = await sql<{ id: string }[]>`
          SELECT id FROM accounts WHERE email_key = ${emailKey} AND email_verified_at IS NOT NULL FOR NO KEY UPDATE`;
        if (row === undefined) return "code_invalid";
        if (
          await useCode(sql, { purpose: "reset", emailKey, codeHash, ...act }) === undefined
        ) return "code_invalid";
        const accountId = parseAccountId(row.id);
        await sql`UPDATE accounts SET password_hash = ${newHash}, version = version + 1 WHERE id = ${accountId}`;
        await voidCodes(sql, accountId);
        const endings = await endAll(sql, { accountId, revokeKeys, ...act });
        await auditEndings(sql, "account.reset", accountId, { endings, ...act });
        return { id: accountId, ...endings };
      }),

    claim: async ({ emailKey, codeHash, ...act }, account, key) => {
      const claimed = transact(async (sql) => {
        const loser = await lockLoser(sql, emailKey);
        const email = await useCode(sql, { purpose: "claim", emailKey, codeHash, ...act });
        if (email === undefined) return "code_invalid";
        if (loser === "email_taken") return "email_taken";
        if (loser !== undefined) await loseAddress(sql, loser, act);
        const created = await insertAccount(sql, { ...account, email }, key);
        await sql`UPDATE accounts SET email_verified_at = ${new Date(
          act.atMs,
        )} WHERE id = ${account.id}`;
        const at = new Date(act.atMs);
        if (loser !== undefined) {
          await sql`SELECT audit_append(${at}, 'account.address_lost', 'mail', ${loser}, NULL)`;
        }
        await sql`SELECT audit_append(${at}, 'account.created', 'mail', ${account.id}, NULL)`;
        await sql`SELECT audit_append(${at}, 'key.created', 'mail', ${account.id}, ${key.id}, '{"kind": "secret"}')`;
        return created;
      });
      try {
        return await unlessTaken(claimed);
      } catch (error) {
        if (violatedConstraint(error) === "api_keys_key_prefix") return "prefix_taken";
        throw error;
      }
    },

    deleteAccount: ({ accountId, oldHash, ...act }) =>
      transact((sql) => erase(sql, { accountId, oldHash, ...act })),
  };
}

async function confirmAddress(
  sql: Transaction,
  { accountId, codeHash, revokeKeys, notice, ...act }: AddressProof,
): Promise<"confirmed" | "code_invalid" | "email_taken"> {
  const at = new Date(act.atMs);
  const isGood =
    sql`account_id = ${accountId} AND purpose IN ('verify', 'change') AND code_hash = ${codeHash}
    AND expires_at > ${at}`;
  const [seen] = await sql<
    { email_key: string }[]
  >`SELECT email_key FROM mail_codes WHERE ${isGood}`;
  if (seen === undefined) return "code_invalid";
  const { account, other } = await lockBoth(sql, accountId, seen.email_key);
  const [code] = await sql<{ purpose: string; email: string; email_key: string }[]>`
    SELECT purpose, email, email_key FROM mail_codes WHERE ${isGood} FOR UPDATE`;
  if (account === undefined || code === undefined) return "code_invalid";
  if (code.purpose === "verify") {
    if (code.email_key !== account.email_key) return "code_invalid";
    // Nobody was told the codes for a reset of an address that was not proved.
    await sql`DELETE FROM mail_codes WHERE account_id = ${accountId} AND purpose IN ('verify', 'reset')`;
    await sql`
      UPDATE accounts SET email_verified_at = coalesce(email_verified_at, ${at}), version = version + 1
      WHERE id = ${accountId}`;
    await sql`SELECT audit_append(${at}, 'account.verified', ${act.actor}, ${accountId}, NULL)`;
    return "confirmed";
  }
  if (other?.verified === true) return "email_taken";
  if (other !== undefined) await loseAddress(sql, other.id, act);
  await sql`DELETE FROM mail_codes WHERE account_id = ${accountId}`;
  await sql`
    UPDATE accounts SET email = ${code.email}, email_key = ${code.email_key}, email_verified_at = ${at},
      address_lost_at = NULL, version = version + 1 WHERE id = ${accountId}`;
  // To those who have proved that they read it. A queue that is full must not keep the account from
  // its new address.
  if (account.verified && account.email !== null && code.email_key !== account.email_key) {
    await insertMessage(sql, { ...notice, recipient: account.email, accountId });
  }
  const endings = await endAll(sql, { accountId, revokeKeys, ...act });
  if (other !== undefined) {
    await sql`SELECT audit_append(${at}, 'account.address_lost', 'mail', ${other.id}, NULL)`;
  }
  await auditEndings(sql, "account.email_changed", accountId, { endings, ...act });
  return "confirmed";
}

interface AddressRow {
  readonly id: string;
  readonly email: string | null;
  readonly email_key: string | null;
  readonly verified: boolean;
}

/**
 * An account and the other one that carries an address, in one order: two that take each other's
 * would wait in a circle.
 */
async function lockBoth(
  sql: Transaction,
  accountId: AccountId,
  emailKey: string,
): Promise<{ readonly account: AddressRow | undefined; readonly other: AddressRow | undefined }> {
  const rows = await sql<AddressRow[]>`
    SELECT id, email, email_key, email_verified_at IS NOT NULL AS verified FROM accounts
    WHERE (id = ${accountId} OR email_key = ${emailKey}) AND deleted_at IS NULL ORDER BY id FOR UPDATE`;
  const isOther = (row: AddressRow): boolean => row.id !== accountId && row.email_key === emailKey;
  return { account: rows.find(({ id }) => id === accountId), other: rows.find(isOther) };
}

/** The account that carries an address without having proved it. */
async function lockLoser(
  sql: Transaction,
  emailKey: string,
): Promise<AccountId | undefined | "email_taken"> {
  const [row] = await sql<{ id: string; verified: boolean }[]>`
    SELECT id, email_verified_at IS NOT NULL AS verified FROM accounts WHERE email_key = ${emailKey} FOR UPDATE`;
  if (row?.verified === true) return "email_taken";
  return row === undefined ? undefined : parseAccountId(row.id);
}

/** Takes an account's address. The account keeps its password, its keys and its channels. */
async function loseAddress(
  sql: Transaction,
  accountId: string,
  { atMs }: AuditStamp,
): Promise<void> {
  const at = new Date(atMs);
  await sql`
    UPDATE accounts SET email = NULL, email_key = NULL, address_lost_at = ${at}, version = version + 1
    WHERE id = ${accountId}`;
  await endSessions(sql, accountId, at);
  await sql`DELETE FROM mail_codes WHERE account_id = ${accountId} AND purpose = 'verify'`;
}

/**
 * Returns the address that the code was sent to, and voids every code of its purpose and address.
 */
async function useCode(
  sql: Transaction,
  { purpose, emailKey, codeHash, atMs }: AuditStamp & Proof & { purpose: "reset" | "claim" },
): Promise<string | undefined> {
  // All of them, in one order: two that use different codes of an address would wait in a circle.
  const codes = await sql<{ email: string; good: boolean }[]>`
    SELECT email, code_hash = ${codeHash} AND expires_at > ${new Date(atMs)} AS good FROM mail_codes
    WHERE email_key = ${emailKey} AND purpose = ${purpose} ORDER BY id FOR UPDATE`;
  const good = codes.find((code) => code.good);
  if (good === undefined) return undefined;
  await sql`DELETE FROM mail_codes WHERE email_key = ${emailKey} AND purpose = ${purpose}`;
  return good.email;
}

/** Codes asked for with the old password, or to get around it, end with it. */
async function voidCodes(sql: Transaction, accountId: AccountId): Promise<void> {
  await sql`DELETE FROM mail_codes WHERE account_id = ${accountId} AND purpose IN ('change', 'reset')`;
}

/** Before the audit, which is written last. */
async function endAll(
  sql: Transaction,
  { accountId, revokeKeys: all, atMs }: AuditStamp & { accountId: AccountId; revokeKeys: boolean },
): Promise<CredentialRevocation> {
  const at = new Date(atMs);
  return {
    sessionsEnded: await endSessions(sql, accountId, at),
    keysRevoked: all ? await revokeKeys(sql, accountId, at) : 0,
  };
}

async function auditEndings(
  sql: Transaction,
  event: string,
  accountId: AccountId,
  { endings, atMs, actor }: AuditStamp & { endings: CredentialRevocation },
): Promise<void> {
  const details = JSON.stringify({
    sessions_ended: endings.sessionsEnded,
    keys_revoked: endings.keysRevoked,
  });
  await sql`
    SELECT audit_append(${new Date(
    atMs,
  )}, ${event}, ${actor}, ${accountId}, NULL, ${details}::text::jsonb)`;
}

async function erase(
  sql: Transaction,
  { accountId, oldHash, atMs, actor }: AuditStamp & {
    accountId: AccountId;
    oldHash: string | undefined;
  },
): Promise<boolean> {
  const at = new Date(atMs);
  const { count } = await sql`
    UPDATE accounts SET deleted_at = ${at}, email = NULL, email_key = NULL, password_hash = NULL, email_verified_at = NULL,
      address_lost_at = NULL, suspended_at = NULL, version = version + 1
    WHERE id = ${accountId} AND deleted_at IS NULL
      AND (${oldHash === undefined} OR password_hash = ${oldHash ?? null})`;
  if (count === 0) return false;
  await sql`SELECT 1 FROM api_keys WHERE account_id = ${accountId} ORDER BY id FOR NO KEY UPDATE`;
  await sql`
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${at}), name = 'deleted', key_hash = NULL, kind = 'secret',
      powers = NULL, channel_id = NULL WHERE account_id = ${accountId}`;
  await sql`DELETE FROM sessions WHERE account_id = ${accountId}`;
  await sql`DELETE FROM mail_codes WHERE account_id = ${accountId}`;
  await sql`DELETE FROM mail_queue WHERE account_id = ${accountId}`;
  await sql`DELETE FROM badges WHERE account_id = ${accountId}`;
  await sql`SELECT audit_append(${at}, 'account.deleted', ${actor}, ${accountId}, NULL)`;
  return true;
}

function toState(row: StateRow): AccountState {
  return {
    id: parseAccountId(row.id),
    email: row.email,
    isVerified: row.verified,
    pendingEmail: row.pending_email,
    plan: row.plan,
    createdAtMs: row.created_at.getTime(),
    isSuspended: row.suspended,
    hasLostAddress: row.address_lost,
    version: row.version,
  };
}
