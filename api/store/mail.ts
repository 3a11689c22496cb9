/**
 * The queue of messages in SQL: any number of processes send from it, and a message that one of
 * them took comes back.
 */
import type { MailStore, QueuedMessage } from "../domain/account_store.ts";
import type { PostgresDatabase, Transaction } from "./database.ts";

/** Beyond it, mail is refused: a server that is down must not fill the disk. */
export const maxWaitingMessages = 10_000;

interface DueRow {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly attempts: number;
}

export function createMailStore({ sql, run }: PostgresDatabase): MailStore {
  return {
    takeDue: async ({ atMs, limit, hiddenMs }) => {
      const rows = await run(sql<DueRow[]>`
        WITH due AS (
          SELECT id, next_attempt_at FROM mail_queue
          WHERE next_attempt_at <= ${new Date(atMs)} AND expires_at > ${new Date(atMs)}
          ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), taken AS (
          UPDATE mail_queue q SET attempts = attempts + 1, next_attempt_at = ${new Date(
        atMs + hiddenMs,
      )}
          FROM due WHERE q.id = due.id
          RETURNING q.id, recipient, subject, body, attempts, due.next_attempt_at AS due_at)
        SELECT id, recipient, subject, body, attempts FROM taken ORDER BY due_at`);
      return [...rows];
    },
    remove: async (id) => {
      await run(sql`DELETE FROM mail_queue WHERE id = ${id}`);
    },
    postpone: async (id, untilMs) => {
      await run(sql`UPDATE mail_queue SET next_attempt_at = ${new Date(untilMs)} WHERE id = ${id}`);
    },
    countWaiting: async () => {
      const [row] = await run(
        sql<{ waiting: number }[]>`SELECT count(*) AS waiting FROM mail_queue`,
      );
      return row?.waiting ?? 0;
    },
  };
}

/** False when too many wait. */
export async function insertMessage(sql: Transaction, message: QueuedMessage): Promise<boolean> {
  const { id, recipient, subject, body, accountId, atMs, expiresAtMs } = message;
  const { count } = await sql`
    INSERT INTO mail_queue (id, recipient, subject, body, account_id, next_attempt_at, expires_at)
    SELECT ${id}::uuid, ${recipient}::text, ${subject}::text, ${body}::text, ${accountId}::uuid, ${new Date(
    atMs,
  )}::timestamptz,
           ${new Date(expiresAtMs)}::timestamptz
    WHERE (SELECT count(*) FROM mail_queue) < ${maxWaitingMessages}`;
  return count === 1;
}
