/** The audit in SQL, and the changes that relays follow, which are rows of it. */
import { parseAccountId } from "../../proto/mod.ts";
import type { AccountChange, AuditStore, ChangesStore } from "../domain/admin_store.ts";
import type { PostgresDatabase } from "./database.ts";

interface EventRow {
  readonly seq: number;
  readonly event: string;
  readonly account_id: string | null;
  readonly body: string;
  readonly hash: Uint8Array;
}

/** The same names as in the index of the migration. */
const changes: Readonly<Record<string, AccountChange>> = {
  "account.suspended": "suspended",
  "account.resumed": "resumed",
  "account.deleted": "deleted",
  "account.plan_set": "limits",
  "account.limit_set": "limits",
  "plan.limit_set": "limits",
};

export function createAuditStore(
  { sql, run, transact }: PostgresDatabase,
): AuditStore & ChangesStore {
  const isChange =
    sql`event IN ('account.suspended', 'account.resumed', 'account.deleted', 'account.plan_set',
    'account.limit_set', 'plan.limit_set')`;
  return {
    readAudit: async (after, limit) => {
      const rows = await run(sql<EventRow[]>`
        SELECT seq, event, account_id, body, hash FROM audit_events WHERE seq > ${after} ORDER BY seq LIMIT ${limit}`);
      return rows.map(({ account_id: accountId, ...row }) => ({ ...row, accountId }));
    },

    readOwnEvents: async (accountId, { beforeMs, limit }) => {
      // Times stand in the text in one form, so they are compared as text.
      const before = beforeMs === undefined ? "~" : new Date(beforeMs).toISOString();
      const rows = await run(sql<{ body: string }[]>`
        SELECT body FROM audit_events WHERE account_id = ${accountId} AND (body::jsonb ->> 1) COLLATE "C" < ${before}
        ORDER BY seq DESC LIMIT ${limit}`);
      return rows.map(({ body }) => {
        const [, time, event, actor, , subject, details] = JSON.parse(body);
        return { atMs: Date.parse(time), event, actor, subject, details };
      });
    },

    readAuditHead: async () => {
      const [head] = await run(
        sql<{ seq: number; hash: Uint8Array }[]>`SELECT seq, hash FROM audit_head`,
      );
      if (head === undefined) throw new Error("The audit has no head: a row was deleted by hand");
      return head;
    },

    lastChange: async () => {
      const [row] = await run(sql<{ seq: number }[]>`
        SELECT coalesce(max(seq), 0) AS seq FROM audit_events WHERE ${isChange}`);
      return row?.seq ?? 0;
    },

    readChanges: async (after, limit) => {
      const rows = await run(sql<EventRow[]>`
        SELECT seq, event, account_id FROM audit_events WHERE ${isChange} AND seq > ${after} ORDER BY seq LIMIT ${limit}`);
      return rows.map(({ seq, event, account_id }) => ({
        seq,
        accountId: account_id === null ? null : parseAccountId(account_id),
        change: changes[event] ?? "limits",
      }));
    },

    readStanding: (deletedSinceMs) =>
      transact(async (sql) => {
        // The head first: what changes after it is in both, which does no harm; never in neither.
        const [head] = await sql<{ seq: number }[]>`SELECT seq FROM audit_head`;
        const suspended = await sql<{ id: string }[]>`
          SELECT id FROM accounts WHERE suspended_at IS NOT NULL AND deleted_at IS NULL`;
        const deleted = await sql<{ id: string }[]>`
          SELECT id FROM accounts WHERE deleted_at > ${new Date(deletedSinceMs)}`;
        const ids = (rows: readonly { id: string }[]): ReturnType<typeof parseAccountId>[] =>
          rows.map(({ id }) => parseAccountId(id));
        return { after: head?.seq ?? 0, suspended: ids(suspended), deleted: ids(deleted) };
      }),
  };
}
