/** Accounts in SQL. */
import type { Account, AccountStore, NewAccount, NewKey } from "../domain/deps.ts";
import type { Database, Transaction } from "./database.ts";

export function createAccountStore({ transact, violatedConstraint }: Database): AccountStore {
  return {
    createAccount: async (account, key) => {
      try {
        return await transact(async (sql) => {
          const created = await insertAccount(sql, account, key);
          const at = new Date(account.createdAtMs);
          await sql`
            SELECT audit_append(${at}, 'account.created', 'password', ${account.id}, NULL),
                   audit_append(${at}, 'key.created', 'password', ${account.id}, ${key.id}, '{"kind": "secret"}')`;
          return created;
        });
      } catch (error) {
        const constraint = violatedConstraint(error);
        if (constraint === "accounts_email_key") return "email_taken";
        if (constraint === "api_keys_key_prefix") return "prefix_taken";
        throw error;
      }
    },
  };
}

/** One statement, so the account and its first key appear together or not at all. */
export async function insertAccount(
  sql: Transaction,
  account: NewAccount,
  key: Omit<NewKey, "traits">,
): Promise<Account> {
  const [row] = await sql<{ plan: string; created_at: Date }[]>`
    WITH account AS (
      INSERT INTO accounts (id, email, email_key, password_hash, plan, created_at)
      VALUES (${account.id}, ${account.email}, ${account.emailKey}, ${account.passwordHash}, ${account.plan},
              ${new Date(account.createdAtMs)})
      RETURNING id, plan, created_at
    ), key AS (
      INSERT INTO api_keys (id, account_id, key_prefix, name, key_hash, created_at)
      SELECT ${key.id}, id, ${key.keyPrefix}, ${key.name}, ${key.keyHash}, ${new Date(key.createdAtMs)} FROM account
    )
    SELECT plan, created_at FROM account`;
  if (row === undefined) throw new Error("Creating an account returned no row");
  return { id: account.id, email: account.email, plan: row.plan, createdAtMs: row.created_at.getTime() };
}
