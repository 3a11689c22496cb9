/**
 * The log: appending an entry with everything about it, and reading what is there. Runs inside
 * groups of `group_commit.ts`.
 */
import type { AgentId, ChannelId, GapReason } from "../../proto/mod.ts";
import type { ChannelHead, ChannelHeads } from "./channel_heads.ts";
import type { Database, Statement } from "./database.ts";
import type {
  AppendedEntry,
  AppendOutcome,
  CommitTrace,
  Entry,
  EntryKind,
  Gap,
  LogItem,
  NewEntry,
  QueueSize,
} from "./engine.ts";
import { engineLimits } from "./input.ts";
import { judge } from "./append_rule.ts";
import type { Leases } from "./leases.ts";
import { bytesPerMember, type LogBytes } from "./log_bytes.ts";
import type { RecordRows } from "./records.ts";

interface EntryRow {
  sequence: number;
  kind: EntryKind;
  epoch: number;
  sender: AgentId;
  time_ms: number;
  body_version: number;
  body: Uint8Array;
}

interface EntryKeyRow {
  sequence: number;
  epoch: number;
  time_ms: number;
}

interface GapRow {
  first: number;
  last: number;
  reason: GapReason;
}

interface TraceRow {
  sequence: number;
  commit_hash: Uint8Array;
  sender: AgentId;
  time_ms: number;
}

interface EntriesDeps {
  readonly heads: ChannelHeads;
  readonly leases: Leases;
  readonly logBytes: LogBytes;
  readonly records: Pick<RecordRows, "edit">;
}

export class Entries {
  readonly #heads: ChannelHeads;
  readonly #leases: Leases;
  readonly #logBytes: LogBytes;
  readonly #records: EntriesDeps["records"];
  readonly #insert: Statement;
  readonly #insertKey: Statement;
  readonly #insertTrace: Statement;
  readonly #insertListing: Statement;
  readonly #deleteListing: Statement;
  readonly #insertCursor: Statement;
  readonly #renewCursor: Statement;
  readonly #joinNoMore: Statement;
  readonly #allJoinNoMore: Statement;
  readonly #resizeWelcome: Statement;
  readonly #next: Statement<EntryRow>;
  readonly #gapsAfter: Statement<GapRow>;
  readonly #key: Statement<EntryKeyRow>;
  readonly #trace: Statement<TraceRow>;

  constructor(database: Database, { heads, leases, logBytes, records }: EntriesDeps) {
    this.#heads = heads;
    this.#leases = leases;
    this.#logBytes = logBytes;
    this.#records = records;
    this.#insert = database.prepare(`
      INSERT INTO entry (channel, sequence, kind, epoch, sender, time_ms, body_version, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#insertKey = database.prepare(`
      INSERT OR IGNORE INTO entry_key (channel, key, sequence, epoch, time_ms) VALUES (?, ?, ?, ?, ?)`);
    this.#insertTrace = database.prepare(`
      INSERT INTO commit_trace (channel, epoch, sequence, commit_hash, sender, time_ms) VALUES (?, ?, ?, ?, ?, ?)`);
    this.#insertListing = database.prepare(
      "INSERT OR IGNORE INTO listing (agent, channel_id) VALUES (?, ?)",
    );
    this.#deleteListing = database.prepare(
      "DELETE FROM listing WHERE agent = ? AND channel_id = ?",
    );
    this.#insertCursor = database.prepare(`
      INSERT INTO cursor (channel, agent, consumed, joining, acknowledged, welcome_bytes)
      VALUES (?1, ?2, ?3, ?4, ?3, ?5)`);
    this.#renewCursor = database.prepare(`
      UPDATE cursor SET consumed = ?3, joining = ?4, acknowledged = ?3, welcome_bytes = ?5
      WHERE channel = ?1 AND agent = ?2`);
    this.#joinNoMore = database.prepare(
      "UPDATE cursor SET joining = NULL WHERE channel = ? AND agent = ? AND joining IS NOT NULL",
    );
    this.#allJoinNoMore = database.prepare(
      "UPDATE cursor SET joining = NULL WHERE channel = ? AND joining IS NOT NULL",
    );
    this.#resizeWelcome = database.prepare(
      "UPDATE cursor SET welcome_bytes = ?1 WHERE channel = ?2 AND agent = ?3 AND joining IS NOT NULL",
    );
    this.#next = database.prepare(`
      SELECT sequence, kind, epoch, sender, time_ms, body_version, body FROM entry
      WHERE channel = ? AND sequence > ? ORDER BY sequence LIMIT 1`);
    this.#gapsAfter = database.prepare(`
      SELECT first, last, reason FROM gap WHERE channel = ? AND last > ? ORDER BY first LIMIT ${engineLimits.itemsPerRead}`);
    this.#key = database.prepare(
      "SELECT sequence, epoch, time_ms FROM entry_key WHERE channel = ? AND key = ?",
    );
    this.#trace = database.prepare(`
      SELECT sequence, commit_hash, sender, time_ms FROM commit_trace WHERE channel = ? AND epoch = ?`);
  }

  /** Checks in the order of `AppendOutcome`: channel, key, epoch, charge, room. */
  append(channelId: ChannelId, entry: NewEntry): AppendOutcome {
    const channel = this.#heads.findOpen(channelId);
    if (channel === undefined) return { kind: "no_channel" };
    const refused = judge(entry, {
      epoch: channel.epoch,
      isPaid: entry.charge === undefined || this.#leases.canPay(entry.charge),
      full: this.#logBytes.full(channel, entry),
      isOvertaken: isOvertaken(channel, entry),
    });
    const appended = { sequence: channel.head + 1, epoch: entry.epoch, timeMs: entry.timeMs };
    // Usually it is accepted, and then inserting the key is what finds out whether it is new.
    if (refused !== undefined || !this.#rememberKey(channel, entry.key, appended)) {
      const original = this.#findKey(channel, entry.key);
      if (original !== undefined) return { kind: "duplicate", ...original };
      return refused ?? { kind: "conflict", epoch: channel.epoch };
    }
    if (entry.charge !== undefined) this.#leases.pay(entry.charge);
    this.#write(channel, entry, appended.sequence);
    return { kind: "appended", ...appended };
  }

  #rememberKey(
    { number }: ChannelHead,
    key: string,
    { sequence, epoch, timeMs }: AppendedEntry,
  ): boolean {
    return this.#insertKey.run(number, key, sequence, epoch, timeMs) === 1;
  }

  #write(channel: ChannelHead, entry: NewEntry, sequence: number): void {
    const { kind, epoch, sender, timeMs, bodyVersion, body, commitHash } = entry;
    this.#insert.run(channel.number, sequence, kind, epoch, sender, timeMs, bodyVersion, body);
    if (commitHash !== undefined) {
      this.#insertTrace.run(channel.number, epoch, sequence, commitHash, sender, timeMs);
      channel.epoch = epoch + 1;
    }
    for (const agent of entry.removed) {
      this.#deleteListing.run(agent, channel.channelId);
      this.#joinNoMore.run(channel.number, agent);
    }
    for (const agent of entry.added) {
      this.#list(channel, agent, sequence, entry.welcomeBytes?.get(agent) ?? 0);
    }
    for (const edit of entry.records ?? []) this.#records.edit(edit);
    if (kind === "welcome") {
      for (const [agent, bytes] of entry.welcomeBytes ?? []) {
        this.#resizeWelcome.run(bytes, channel.number, agent);
      }
    }
    if (kind === "message") {
      if (channel.messages === 0) this.#heads.setOldest(channel, timeMs);
      channel.messages++;
      channel.messageBytes += body.length;
    }
    this.#logBytes.changed(channel, body.length, kind === "message");
    if (kind === "close") {
      this.#heads.close(channel, timeMs);
      this.#allJoinNoMore.run(channel.number);
    }
    if (isChange(entry)) channel.changeSequence = sequence;
    channel.head = sequence;
    this.#heads.changed(channel);
  }

  /** A former member still has a cursor, unless it was dropped. */
  #list(channel: ChannelHead, agent: AgentId, sequence: number, welcomeBytes: number): void {
    this.#insertListing.run(agent, channel.channelId);
    const cursor = [channel.number, agent, sequence - 1, channel.account, welcomeBytes];
    if (this.#renewCursor.run(...cursor) === 1) return;
    this.#insertCursor.run(...cursor);
    this.#logBytes.changed(channel, bytesPerMember, false);
  }

  read(channelId: ChannelId, { after, maxBytes }: { after: number; maxBytes: number }): LogItem[] {
    const channel = this.#heads.find(channelId);
    if (channel === undefined || after >= channel.head) return [];
    const gaps = this.#gapsAfter.all(channel.number, after).map((row) => gapOf(row, after));
    const items: LogItem[] = [];
    let [bytes, row] = [0, this.#next.get(channel.number, after)];
    while (row !== undefined) {
      while (gaps[0] !== undefined && gaps[0].sequence < row.sequence) {
        items.push(...gaps.splice(0, 1));
      }
      bytes += row.body.length;
      if (items.length > 0 && (bytes > maxBytes || items.length >= engineLimits.itemsPerRead)) {
        return items;
      }
      items.push(entryOf(row));
      row = this.#next.get(channel.number, row.sequence);
    }
    return [...items, ...gaps];
  }

  findKey(channelId: ChannelId, key: string): AppendedEntry | undefined {
    const channel = this.#heads.find(channelId);
    return channel === undefined ? undefined : this.#findKey(channel, key);
  }

  #findKey({ number }: ChannelHead, key: string): AppendedEntry | undefined {
    const row = this.#key.get(number, key);
    return row === undefined
      ? undefined
      : { sequence: row.sequence, epoch: row.epoch, timeMs: row.time_ms };
  }

  findCommit(channelId: ChannelId, epoch: number): CommitTrace | undefined {
    const channel = this.#heads.find(channelId);
    const row = channel === undefined ? undefined : this.#trace.get(channel.number, epoch);
    if (row === undefined) return undefined;
    return {
      sequence: row.sequence,
      commitHash: row.commit_hash,
      sender: row.sender,
      timeMs: row.time_ms,
    };
  }

  queueSize(channelId: ChannelId): QueueSize {
    const channel = this.#heads.find(channelId);
    if (channel === undefined || channel.messages === 0) return { messages: 0, bytes: 0 };
    const { messages, messageBytes, oldestMs } = channel;
    return { messages, bytes: messageBytes, ...(oldestMs !== undefined && { oldestMs }) };
  }
}

/** Whether members or owners have changed since its sender judged. */
function isOvertaken(
  { changeSequence }: ChannelHead,
  { judgedAt = changeSequence }: NewEntry,
): boolean {
  return judgedAt < changeSequence;
}

function isChange({ kind, isRoutine = false }: NewEntry): boolean {
  return kind !== "message" && kind !== "welcome" && !isRoutine;
}

function entryOf({ sequence, kind, epoch, sender, time_ms, body_version, body }: EntryRow): Entry {
  return { sequence, kind, epoch, sender, timeMs: time_ms, bodyVersion: body_version, body };
}

/** A reader of a part of it is told of the rest. */
function gapOf({ first, last, reason }: GapRow, after: number): Gap {
  const sequence = Math.max(first, after + 1);
  return { kind: "gap", sequence, lastSequence: last, messages: last - sequence + 1, reason };
}
