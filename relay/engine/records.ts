/**
 * Small durable records with revisions that never come back. A record may belong to a channel: then
 * the channel's account pays for its room, and it goes with the channel.
 */
import type { ChannelId } from "../../proto/mod.ts";
import type { ChannelHeads } from "./channel_heads.ts";
import type { Database, Statement } from "./database.ts";
import type { NewRecord, PutOutcome, RecordEdit, Records, StoredRecord } from "./engine.ts";
import { type GroupCommit, nextTurn } from "./group_commit.ts";
import { checkBytes, checkCount, checkText, engineLimits } from "./input.ts";
import { bytesPerRecord, type LogBytes } from "./log_bytes.ts";

interface StoredRecordRow {
  value: Uint8Array;
  revision: number;
  expires_at_ms: number;
}

/** The change that its removal makes. */
interface RemovableRecord {
  revision: number;
  bytes: number;
  expires_at_ms: number;
  channel_id: ChannelId | null;
}

interface RecordsDeps {
  readonly heads: ChannelHeads;
  readonly logBytes: LogBytes;
}

/** Deleted at once, so that nobody waits long. */
const sliceRows = 100;

export function createRecords(database: Database, rows: RecordRows, commits: GroupCommit): Records {
  const select = database.prepare<StoredRecordRow>(
    "SELECT value, revision, expires_at_ms FROM record WHERE key = ?",
  );
  const selectOf = database.prepare<StoredRecordRow & { key: string }>(
    "SELECT key, value, revision, expires_at_ms FROM record WHERE channel_id = ?",
  );
  return {
    get: (key) =>
      commits.read(() => {
        const row = select.get(key);
        return row && recordOf(row);
      }),
    put: async (key, record, revision) => {
      checkText("record key", key);
      checkBytes("record", record.value, engineLimits.recordBytes);
      checkCount("expiry", record.expiresAtMs);
      checkCount("revision", revision);
      return await commits.write(() => rows.put(key, record, revision), {
        bytes: record.value.length,
      });
    },
    delete: (key) => commits.write(() => rows.delete(key)),
    ofChannel: (channelId) =>
      commits.read(() =>
        selectOf.all(channelId).map((row) => ({ key: row.key, ...recordOf(row) }))
      ),
    expire: async (nowMs) => {
      checkCount("time", nowMs);
      while (await commits.write(() => rows.expire(nowMs)) === sliceRows) await nextTurn();
    },
  };
}

function recordOf({ value, revision, expires_at_ms }: StoredRecordRow): StoredRecord {
  return { value, revision, expiresAtMs: expires_at_ms };
}

/** Used inside groups. */
export class RecordRows {
  readonly #heads: ChannelHeads;
  readonly #logBytes: LogBytes;
  readonly #insert: Statement;
  readonly #remove: Statement;
  readonly #held: Statement<RemovableRecord>;
  readonly #expired: Statement<RemovableRecord>;
  readonly #count: Statement<{ records: number }>;

  constructor(database: Database, { heads, logBytes }: RecordsDeps) {
    this.#heads = heads;
    this.#logBytes = logBytes;
    this.#insert = database.prepare(
      "INSERT INTO record (key, value, expires_at_ms, channel_id) VALUES (?, ?, ?, ?)",
    );
    this.#remove = database.prepare("DELETE FROM record WHERE revision = ?");
    const held = (condition: string): Statement<RemovableRecord> =>
      database.prepare(
        `SELECT revision, length(value) AS bytes, expires_at_ms, channel_id FROM record WHERE ${condition}`,
      );
    this.#held = held("key = ?");
    this.#expired = held(`expires_at_ms <= ? LIMIT ${sliceRows}`);
    this.#count = database.prepare("SELECT count(*) AS records FROM record WHERE channel_id = ?");
  }

  put(key: string, { value, expiresAtMs, of }: NewRecord, revision: number): PutOutcome {
    const replaced = this.#held.get(key);
    if ((replaced?.revision ?? 0) !== revision) return { kind: "conflict" };
    const channel = of && this.#heads.findOpen(of.channelId);
    if (of !== undefined) {
      if (channel === undefined) return { kind: "no_channel" };
      const bytes = bytesPerRecord + value.length;
      const isMore = replaced === undefined;
      if (isMore && (this.#count.get(of.channelId)?.records ?? 0) >= of.most) {
        return { kind: "full", of: "records" };
      }
      const full = isMore ? this.#logBytes.fullWith(channel, bytes, of.room) : undefined;
      if (full !== undefined) return { kind: "full", of: full };
      this.#logBytes.changed(channel, bytes, false);
    }
    // Not an update: a new row gets a new revision.
    if (replaced !== undefined) this.#release(replaced);
    this.#insert.run(key, value, expiresAtMs, of?.channelId ?? null);
    return { kind: "stored", revision: this.#held.get(key)?.revision ?? 0 };
  }

  /** One that was changed or deleted since it was read stays as it is. */
  edit(edit: RecordEdit): void {
    if (edit.kind === "delete") return this.delete(edit.key);
    const held = this.#held.get(edit.key);
    if (held?.revision !== edit.revision) return;
    const channel = held.channel_id === null ? undefined : this.#heads.find(held.channel_id);
    if (channel !== undefined) {
      this.#logBytes.changed(channel, bytesPerRecord + edit.value.length, false);
    }
    this.#release(held);
    this.#insert.run(edit.key, edit.value, held.expires_at_ms, held.channel_id);
  }

  delete(key: string): void {
    const held = this.#held.get(key);
    if (held !== undefined) this.#release(held);
  }

  /** How many it deleted. */
  expire(nowMs: number): number {
    const expired = this.#expired.all(nowMs);
    for (const held of expired) this.#release(held);
    return expired.length;
  }

  #release({ revision, bytes, channel_id }: RemovableRecord): void {
    this.#remove.run(revision);
    const channel = channel_id === null ? undefined : this.#heads.find(channel_id);
    if (channel !== undefined) this.#logBytes.changed(channel, -(bytesPerRecord + bytes), false);
  }
}
