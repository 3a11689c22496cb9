/**
 * Tables of the SQLite engine as the first format has them; `migrations.ts` says what has changed
 * since. A channel has a small number that stands for its id everywhere else, and ciphertext lies
 * in `entry` once, however many members read it.
 */
import { drafts } from "../../proto/mod.ts";

/**
 * "StR": the file of another program is not taken for ours. Checkouts without drafts had "e" in
 * place of the draft.
 */
const application = 0x537452;

/** `PRAGMA application_id`. */
export const applicationId = application << 8 | drafts.relayFile;

/** Whether a file was made by a relay, of whatever draft. */
export function isRelaysFile(id: number): boolean {
  return id >>> 8 === application;
}

/**
 * Keys of entries are random: each new one changes a page of its own, which a commit then writes.
 * Small pages are cheaper.
 */
export const pageBytes = 4096;

/** Until 0.1.0 a change raises the draft; from then on a change is a migration. */
export const firstTables = `
  PRAGMA application_id = ${applicationId};
  CREATE TABLE channel (
    number            INTEGER PRIMARY KEY,
    id                TEXT    NOT NULL UNIQUE,
    name              TEXT    NOT NULL,
    account           TEXT    NOT NULL,
    creator           TEXT    NOT NULL,
    nonce             BLOB    NOT NULL,
    time_ms           INTEGER NOT NULL,
    epoch             INTEGER NOT NULL DEFAULT 0,
    head              INTEGER NOT NULL DEFAULT 0,
    messages          INTEGER NOT NULL DEFAULT 0,
    message_bytes     INTEGER NOT NULL DEFAULT 0,
    other_bytes       INTEGER NOT NULL DEFAULT 0,
    snapshot_sequence INTEGER NOT NULL DEFAULT 0,
    change_sequence   INTEGER NOT NULL DEFAULT 0,
    oldest_ms         INTEGER,
    closed_at_ms      INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX channel_nonce ON channel (creator, nonce);
  CREATE UNIQUE INDEX channel_name ON channel (account, name) WHERE closed_at_ms IS NULL;
  CREATE INDEX channel_account ON channel (account, id) WHERE closed_at_ms IS NULL;
  CREATE INDEX channel_any_account ON channel (account);
  CREATE INDEX channel_oldest ON channel (oldest_ms) WHERE closed_at_ms IS NULL AND oldest_ms IS NOT NULL;
  CREATE INDEX channel_closed ON channel (closed_at_ms) WHERE closed_at_ms IS NOT NULL;
  CREATE INDEX channel_closed_account ON channel (account, closed_at_ms) WHERE closed_at_ms IS NOT NULL;

  CREATE TABLE account_bytes (
    account TEXT    PRIMARY KEY,
    bytes   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE snapshot (
    channel INTEGER PRIMARY KEY,
    state   BLOB    NOT NULL
  ) STRICT;

  -- By id and not by number, because it is read in the order of ids.
  CREATE TABLE listing (
    agent      TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    PRIMARY KEY (agent, channel_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX listing_channel ON listing (channel_id);

  -- Who was added and has consumed nothing since is joining: the account that made the channel, so that it can be counted.
  CREATE TABLE cursor (
    channel       INTEGER NOT NULL,
    agent         TEXT    NOT NULL,
    consumed      INTEGER NOT NULL,
    joining       TEXT,
    acknowledged  INTEGER NOT NULL DEFAULT 0,
    welcome_bytes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (channel, agent)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX cursor_waiting ON cursor (agent, joining, welcome_bytes) WHERE joining IS NOT NULL;

  -- Sums of what waits for each agent. SQLite itself keeps them with the rows that they are of: cursors are changed in many
  -- places. Nothing replaces a cursor, which would fire no trigger.
  CREATE TABLE waiting (
    agent    TEXT    NOT NULL,
    account  TEXT    NOT NULL,
    channels INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    PRIMARY KEY (agent, account)
  ) STRICT, WITHOUT ROWID;
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

  -- A row that holds a body belongs in a rowid table: in others, long rows spill into pages of their own.
  CREATE TABLE entry (
    number       INTEGER PRIMARY KEY,
    channel      INTEGER NOT NULL,
    sequence     INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    sender       TEXT    NOT NULL,
    time_ms      INTEGER NOT NULL,
    body_version INTEGER NOT NULL,
    body         BLOB    NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX entry_position ON entry (channel, sequence);

  -- Sequences are dense, so a gap is a range and its length is the number of messages that are gone.
  CREATE TABLE gap (
    channel INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    reason  TEXT    NOT NULL,
    PRIMARY KEY (channel, first)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE entry_key (
    number   INTEGER PRIMARY KEY,
    channel  INTEGER NOT NULL,
    key      TEXT    NOT NULL,
    sequence INTEGER NOT NULL,
    epoch    INTEGER NOT NULL,
    time_ms  INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX entry_key_key ON entry_key (channel, key);

  CREATE TABLE commit_trace (
    channel     INTEGER NOT NULL,
    epoch       INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    commit_hash BLOB    NOT NULL,
    sender      TEXT    NOT NULL,
    time_ms     INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX commit_trace_age ON commit_trace (time_ms);

  -- AUTOINCREMENT: a revision never comes back, not even after its record was deleted.
  CREATE TABLE record (
    revision      INTEGER PRIMARY KEY AUTOINCREMENT,
    key           TEXT    NOT NULL UNIQUE,
    value         BLOB    NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    channel_id    TEXT
  ) STRICT;
  CREATE INDEX record_expiry ON record (expires_at_ms);
  CREATE INDEX record_channel ON record (channel_id) WHERE channel_id IS NOT NULL;

  CREATE TABLE lease (
    id            TEXT    PRIMARY KEY,
    fence         INTEGER NOT NULL,
    account       TEXT    NOT NULL,
    granted       INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    consumed      INTEGER NOT NULL,
    payload_bytes INTEGER NOT NULL,
    stopped       INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
