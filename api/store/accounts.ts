/** Accounts in SQL. */
import { parseAccountId } from "../../proto/mod.ts";
import type { AccountStore, PlanStore } from "../domain/deps.ts";
import type { Database } from "./database.ts";

export function createAccountStore({ sql, run, violatedConstraint }: Database): AccountStore & PlanStore {
  return {
    createAccount: async (account, key) => {
      try {
        // One statement, so the account and its first key appear together or not at all.
        const [row] = await run(sql<{ plan: string; created_at: Date }[]>`
          WITH account AS (
            INSERT INTO accounts (id, email, email_key, password_hash, created_at)
            VALUES (${account.id}, ${account.email}, ${account.emailKey}, ${account.passwordHash},
                    ${new Date(account.createdAtMs)})
            RETURNING id, plan, created_at
          ), key AS (
            INSERT INTO api_keys (id, account_id, key_prefix, name, key_hash, created_at)
            SELECT ${key.id}, id, ${key.keyPrefix}, ${key.name}, ${key.keyHash}, ${new Date(
          key.createdAtMs,
        )} FROM account
          )
          SELECT plan, created_at FROM account`);
        if (row === undefined) throw new Error("Creating an account answered no row");
        return { id: account.id, email: account.email, plan: row.plan, createdAtMs: row.created_at.getTime() };
      } catch (error) {
        const constraint = violatedConstraint(error);
        if (constraint === "accounts_email_key") return "email_taken";
        if (constraint === "api_keys_key_prefix") return "prefix_taken";
        throw error;
      }
    },

    findPasswordHash: async (by) => {
      const [row] = await run(
        sql<{ id: string; password_hash: string }[]>`
          SELECT id, password_hash FROM accounts
          WHERE ${"id" in by ? sql`id = ${by.id}` : sql`email_key = ${by.emailKey}`}`,
      );
      return row === undefined ? undefined : { id: parseAccountId(row.id), passwordHash: row.password_hash };
    },

    setPlan: async (emailKey, plan) => {
      const [known] = await run(sql`SELECT 1 FROM plans WHERE name = ${plan}`);
      if (known === undefined) return "unknown_plan";
      const { count } = await run(sql`UPDATE accounts SET plan = ${plan} WHERE email_key = ${emailKey}`);
      return count === 1 ? "set" : "unknown_account";
    },

    setPlanLimit: async (plan, limit) => {
      const { count } = await run(sql`UPDATE plans SET message_limit = ${limit} WHERE name = ${plan}`);
      return count === 1 ? "set" : "unknown_plan";
    },
  };
}
