/** Accounts in SQL. */
import type { Account, AccountStore, NewAccount, NewKey } from "../domain/deps.ts";
import type postgres from "postgres";
import type { PostgresDatabase, Sql, Transaction } from "./database.ts";

export function createAccountStore(
  { sql, run, violatedConstraint }: PostgresDatabase,
): AccountStore {
  return {
    createAccount: async (account, key) => {
      try {
        const at = new Date(account.createdAtMs);
        // One statement: all who add to the audit wait for each other, and none of them for this
        // process.
        const rows = await run(sql<AccountRow[]>`
          ${insertion(sql, account, key)}
          SELECT plan, created_at, audit_append(${at}, 'account.created', 'password', id, NULL),
                 audit_append(${at}, 'key.created', 'password', id, ${key.id}, '{"kind": "secret"}') FROM account`);
        return toAccount(account, rows);
      } catch (error) {
        const constraint = violatedConstraint(error);
        if (constraint === "accounts_email_key") return "email_taken";
        if (constraint === "api_keys_key_prefix") return "prefix_taken";
        throw error;
      }
    },
  };
}

interface AccountRow {
  readonly plan: string;
  readonly created_at: Date;
}

type FirstKey = Omit<NewKey, "traits">;

export async function insertAccount(
  sql: Transaction,
  account: NewAccount,
  key: FirstKey,
): Promise<Account> {
  return toAccount(
    account,
    await sql<AccountRow[]>`${insertion(sql, account, key)} SELECT plan, created_at FROM account`,
  );
}

/**
 * The beginning of a statement, so that the account and its first key appear together or not at
 * all.
 */
function insertion(
  sql: Sql | Transaction,
  account: NewAccount,
  key: FirstKey,
): postgres.PendingQuery<postgres.Row[]> {
  return sql`
    WITH account AS (
      INSERT INTO accounts (id, email, email_key, password_hash, plan, created_at)
      VALUES (${account.id}, ${account.email}, ${account.emailKey}, ${account.passwordHash}, ${account.plan},
              ${new Date(account.createdAtMs)})
      RETURNING id, plan, created_at
    ), key AS (
      INSERT INTO api_keys (id, account_id, key_prefix, name, key_hash, created_at)
      SELECT ${key.id}, id, ${key.keyPrefix}, ${key.name}, ${key.keyHash}, ${new Date(
    key.createdAtMs,
  )} FROM account
    )`;
}

function toAccount({ id, email }: NewAccount, [row]: readonly AccountRow[]): Account {
  if (row === undefined) throw new Error("Creating an account returned no row");
  return { id, email, plan: row.plan, createdAtMs: row.created_at.getTime() };
}
