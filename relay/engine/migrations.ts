/**
 * Every change of the relay's file, in order. The format of a file (`PRAGMA user_version`) is the number of changes that were
 * made to it, so a new change is one more item at the end of this list; what stands here is never edited again. A new file
 * gets all of them, so that it is the same as one that has grown.
 *
 * A change of how the core encodes what is opaque here (bodies, snapshots, records) belongs here too, if only as a name: a
 * relay that cannot read the new encoding then refuses the file.
 */
import type { DatabaseSync } from "node:sqlite";
import { EngineError, faultOf } from "./errors.ts";
import { firstTables } from "./schema.ts";

export interface Migration {
  /** The addition to the file, for the log. */
  readonly name: string;
  /**
   * SQL, or code where SQL is not enough. Runs inside a transaction of its own, together with the new number. Nothing, when
   * only the core's encodings change.
   */
  readonly change?: string | ((sqlite: DatabaseSync) => void);
}

/**
 * 4096 bytes a channel, 400 a member, 200 a record: `log_bytes.ts` at the time. Invites were the only records of
 * channels. A cursor belongs to a joining agent only while its channel is open and lists it.
 */
const countBytes = `
  ALTER TABLE record ADD COLUMN channel_id TEXT;
  UPDATE record SET channel_id = substr(key, 8, instr(substr(key, 8), '/') - 1) WHERE key GLOB 'invite/*/*';
  DELETE FROM record WHERE channel_id NOT IN (SELECT id FROM channel);
  CREATE INDEX record_channel ON record (channel_id) WHERE channel_id IS NOT NULL;

  UPDATE cursor SET joining = NULL WHERE joining IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM channel JOIN listing ON channel_id = id AND listing.agent = cursor.agent
    WHERE channel.number = cursor.channel AND closed_at_ms IS NULL);
  CREATE INDEX cursor_waiting ON cursor (agent, joining, welcome_bytes) WHERE joining IS NOT NULL;
  DROP INDEX cursor_joining;

  ALTER TABLE channel ADD COLUMN other_bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE channel SET other_bytes =
    (SELECT coalesce(sum(length(body)), 0) FROM entry WHERE channel = channel.number AND kind <> 'message') +
    (SELECT count(*) * 400 FROM cursor WHERE channel = channel.number) +
    (SELECT coalesce(sum(length(value) + 200), 0) FROM record WHERE channel_id = channel.id);
  DROP INDEX entry_other;
  CREATE INDEX channel_closed_account ON channel (account, closed_at_ms) WHERE closed_at_ms IS NOT NULL;
  CREATE TABLE account_bytes (
    account TEXT    PRIMARY KEY,
    bytes   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO account_bytes (account, bytes)
    SELECT account, sum(4096 + message_bytes + other_bytes) FROM channel GROUP BY account;
`;

/**
 * The sums are kept with the rows that they are of, by SQLite itself: cursors are changed in many places. Nothing replaces a
 * cursor, which would fire no trigger.
 */
const countWaiting = `
  CREATE TABLE waiting (
    agent    TEXT    NOT NULL,
    account  TEXT    NOT NULL,
    channels INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    PRIMARY KEY (agent, account)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO waiting (agent, account, channels, bytes)
    SELECT agent, joining, count(*), sum(welcome_bytes) FROM cursor WHERE joining IS NOT NULL GROUP BY agent, joining;
  CREATE TRIGGER waiting_begins AFTER INSERT ON cursor WHEN new.joining IS NOT NULL BEGIN
    INSERT INTO waiting (agent, account, channels, bytes) VALUES (new.agent, new.joining, 1, new.welcome_bytes)
      ON CONFLICT DO UPDATE SET channels = channels + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER waiting_ends AFTER DELETE ON cursor WHEN old.joining IS NOT NULL BEGIN
    UPDATE waiting SET channels = channels - 1, bytes = bytes - old.welcome_bytes
      WHERE agent = old.agent AND account = old.joining;
    DELETE FROM waiting WHERE agent = old.agent AND account = old.joining AND channels = 0;
  END;
  CREATE TRIGGER waiting_stops AFTER UPDATE OF joining, welcome_bytes ON cursor WHEN old.joining IS NOT NULL BEGIN
    UPDATE waiting SET channels = channels - 1, bytes = bytes - old.welcome_bytes
      WHERE agent = old.agent AND account = old.joining;
    DELETE FROM waiting
      WHERE agent = old.agent AND account = old.joining AND channels = 0 AND new.joining IS NOT old.joining;
  END;
  CREATE TRIGGER waiting_starts AFTER UPDATE OF joining, welcome_bytes ON cursor WHEN new.joining IS NOT NULL BEGIN
    INSERT INTO waiting (agent, account, channels, bytes) VALUES (new.agent, new.joining, 1, new.welcome_bytes)
      ON CONFLICT DO UPDATE SET channels = channels + 1, bytes = bytes + excluded.bytes;
  END;
`;

/** Every commit counts: nobody wrote which ones are routine. */
const countChanges = `
  ALTER TABLE channel ADD COLUMN change_sequence INTEGER NOT NULL DEFAULT 0;
  UPDATE channel SET change_sequence = coalesce(
    (SELECT max(sequence) FROM entry WHERE channel = channel.number AND kind NOT IN ('message', 'welcome')), 0);
`;

export const migrations: readonly Migration[] = [
  { name: "tables", change: firstTables },
  {
    name: "versions of bodies and invites",
    change: "ALTER TABLE entry ADD COLUMN body_version INTEGER NOT NULL DEFAULT 1",
  },
  {
    // Statements to leave were about an epoch and are about a leaf now: nobody can judge an old one. Owners remove its agent.
    name: "signed commits, and leave statements about a leaf",
    change: "UPDATE entry SET kind = 'lapse', body = x'', body_version = 1 WHERE kind = 'leave'",
  },
  {
    // In files from before, nobody has acknowledged anything as far as is known.
    name: "what each member sent last, in snapshots; what it acknowledged itself",
    change: "ALTER TABLE cursor ADD COLUMN acknowledged INTEGER NOT NULL DEFAULT 0",
  },
  { name: "commits that say which state of the group they begin with and lead to" },
  { name: "foundings of new generations" },
  {
    name: "how large the Welcome is that waits for who is joining",
    change: "ALTER TABLE cursor ADD COLUMN welcome_bytes INTEGER NOT NULL DEFAULT 0",
  },
  { name: "records of a channel, and what each channel and account takes", change: countBytes },
  { name: "who came in by an invite, in its record" },
  { name: "what waits for each agent, by account", change: countWaiting },
  { name: "keys without an index of their age", change: "DROP INDEX entry_key_age" },
  { name: "where each channel's members or owners changed last", change: countChanges },
];

/** A file that was changed while it was opened. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

/** Throws `unsupported_version` for a file that has had changes which are not in the list. */
export function checkFormat(path: string, format: number, known: number): void {
  if (format <= known) return;
  throw new EngineError(
    "unsupported_version",
    `Cannot open ${path}: it has format ${format}, and this relay knows formats up to ${known}. A newer relay wrote it: ` +
      "start that one, or restore a copy from before it ran. Nothing was changed",
  );
}

/**
 * Brings a file to the newest format. Each change is one transaction with its number, so a process that dies in between leaves
 * the file in the format before or after a change, and the next start goes on from there.
 */
export function migrate(sqlite: DatabaseSync, from: number, list: readonly Migration[]): Migrated {
  const pending = list.slice(from);
  pending.forEach(({ name, change }, i) => {
    const format = from + i + 1;
    try {
      sqlite.exec("BEGIN IMMEDIATE");
      if (typeof change === "string") sqlite.exec(change);
      else change?.(sqlite);
      sqlite.exec(`PRAGMA user_version = ${format}; COMMIT`);
    } catch (cause) {
      if (sqlite.isTransaction) sqlite.exec("ROLLBACK");
      throw faultOf(`bring the relay's database to format ${format} (${name})`, cause);
    }
  });
  return { from, to: list.length, names: pending.map(({ name }) => name) };
}
