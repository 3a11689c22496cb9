/**
 * The embedded engine: SQLite in one file, one process per file. This module puts the parts
 * together; what matters is in `group_commit.ts` (when callers are answered), `database.ts` (what
 * is on disk by then) and `entries.ts` (the log).
 */
import type { AccountId, AgentId, ChannelId, GapReason } from "../../proto/mod.ts";
import { ChannelHeads } from "./channel_heads.ts";
import { Channels, type SizedChannel } from "./channels.ts";
import { CursorTable } from "./cursors.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import type {
  AppendedEntry,
  AppendOutcome,
  ChannelPage,
  ChannelRecord,
  CommitTrace,
  CreateOutcome,
  Cursor,
  CursorMove,
  Engine,
  ForgetBefore,
  JoiningQuery,
  KeyPackagePools,
  LeaseBook,
  ListQuery,
  LogItem,
  NewChannel,
  NewEntry,
  QueueSize,
  Records,
  Snapshot,
  StorageSize,
  WaitingQuery,
  WelcomeBacklog,
} from "./engine.ts";
import { Entries } from "./entries.ts";
import { EngineError } from "./errors.ts";
import { GroupCommit, nextTurn } from "./group_commit.ts";
import {
  checkChannel,
  checkCount,
  checkCursors,
  checkEntry,
  checkSnapshot,
  engineLimits,
} from "./input.ts";
import { createKeyPackagePools } from "./key_package_pools.ts";
import { createLeaseBook, Leases } from "./leases.ts";
import { LogBytes } from "./log_bytes.ts";
import { createRecords, RecordRows } from "./records.ts";
import { LogTrimmer } from "./log_trimmer.ts";
import { type EntryListener, Watchers } from "./watchers.ts";

export interface SqliteEngineOptions extends DatabaseOptions {
  /** A watcher threw. */
  readonly onListenerError?: (error: unknown) => void;
  /**
   * The disk did not confirm a write: from now on everything is refused, and the process had better
   * start anew.
   */
  readonly onFailed?: (error: EngineError) => void;
}

/** Only copies have this record. Its value is the time of the backup. */
export const copyKey = "backup/copy";
/** Written so that there is something to confirm. Its value is the time of the last wiping. */
const wipedKey = "files/wiped";
const lastingMs = 100 * 365 * 24 * 60 * 60 * 1000;

/** Throws `EngineError`: `locked`, `corrupt`, `unsupported_version` or `io`. */
export async function openSqliteEngine(options: SqliteEngineOptions): Promise<Engine> {
  const { onListenerError = () => {}, onFailed = () => {} } = options;
  return new SqliteEngine(await Database.open(options), new Watchers(onListenerError), onFailed);
}

/**
 * An engine whose content can be had again from elsewhere, and what it takes to keep something of
 * one's own in its file.
 */
export interface ReplicaStore {
  readonly engine: Engine;
  readonly database: Database;
  readonly commits: GroupCommit;
  /** Slices of trimming: each is done at once, and others come between. */
  readonly trimming: Pick<LogTrimmer, "trimSlice" | "dropSlice" | "purgeSlice">;
}

/** Never waits for a disk: for a copy of a log that others keep. */
export async function openReplicaStore(
  options: Pick<SqliteEngineOptions, "path" | "maxBytes" | "onListenerError" | "onFailed">,
): Promise<ReplicaStore> {
  const { onListenerError = () => {}, onFailed = () => {} } = options;
  const database = await Database.open({ ...options, isCopy: true });
  const engine = new SqliteEngine(database, new Watchers(onListenerError), onFailed);
  return { engine, database, commits: engine.commits, trimming: engine.trimming };
}

class SqliteEngine implements Engine {
  readonly records: Records;
  readonly leases: LeaseBook;
  readonly keyPackages: KeyPackagePools = createKeyPackagePools();

  readonly #database: Database;
  #isBackingUp = false;
  readonly #commits: GroupCommit;
  readonly #watchers: Watchers;
  readonly #channels: Channels;
  readonly #entries: Entries;
  readonly #cursors: CursorTable;
  readonly #logBytes: LogBytes;
  readonly #trimming: LogTrimmer;
  #closed: Promise<void> | undefined;

  constructor(database: Database, watchers: Watchers, onFailed: (error: EngineError) => void) {
    const heads = new ChannelHeads(database);
    const leases = new Leases(database);
    const logBytes = new LogBytes(database, heads);
    this.#database = database;
    this.#logBytes = logBytes;
    this.#watchers = watchers;
    this.#commits = new GroupCommit({
      begin: () => database.begin(),
      commit: () => {
        heads.write();
        logBytes.write();
        leases.write();
        return database.commit();
      },
      rollback: () => {
        database.rollback();
        heads.reset();
        logBytes.reset();
        leases.reset();
      },
      sync: () => database.sync(),
      checkpoint: () => database.checkpoint(),
      // A copy's position in the log must not fall behind its content.
      isWhole: database.isCopy,
    }, onFailed);
    this.#channels = new Channels(database, heads, logBytes);
    const records = new RecordRows(database, { heads, logBytes });
    this.#entries = new Entries(database, { heads, leases, logBytes, records });
    this.#cursors = new CursorTable(database, { heads, logBytes });
    this.#trimming = new LogTrimmer(database, { heads, logBytes }, this.#commits);
    this.records = createRecords(database, records, this.#commits);
    this.leases = createLeaseBook(leases, this.#commits);
  }

  get commits(): GroupCommit {
    return this.#commits;
  }

  get trimming(): LogTrimmer {
    return this.#trimming;
  }

  async createChannel(channel: NewChannel): Promise<CreateOutcome> {
    checkChannel(channel);
    const outcome = await this.#commits.write(() => this.#channels.create(channel));
    if (outcome.kind === "id_taken") {
      throw new EngineError(
        "invalid",
        "Cannot create a channel: its id is taken. Draw another one",
      );
    }
    return outcome;
  }

  findChannel(channelId: ChannelId): Promise<ChannelRecord | undefined> {
    return this.#commits.read(() => this.#channels.find(channelId));
  }

  async listChannels(query: ListQuery): Promise<ChannelPage> {
    checkCount("limit", query.limit, engineLimits.channelsPerPage);
    return await this.#commits.read(() => this.#channels.list(query));
  }

  async listJoining(query: JoiningQuery): Promise<ChannelPage> {
    checkCount("limit", query.limit, engineLimits.channelsPerPage);
    return await this.#commits.read(() => this.#channels.listJoining(query));
  }

  joining(query: WaitingQuery): Promise<WelcomeBacklog> {
    return this.#commits.read(() => this.#channels.joining(query));
  }

  isListed(agentId: AgentId): Promise<boolean> {
    return this.#commits.read(() => this.#channels.isListed(agentId));
  }

  async agedChannels(
    { beforeMs, limit }: { beforeMs: number; limit: number },
  ): Promise<readonly ChannelId[]> {
    checkCount("time", beforeMs);
    checkCount("limit", limit, engineLimits.channelsPerPage);
    return await this.#commits.read(() => this.#channels.aged(beforeMs, limit));
  }

  async append(channelId: ChannelId, entry: NewEntry): Promise<AppendOutcome> {
    checkEntry(entry);
    return await this.#commits.write(() => this.#entries.append(channelId, entry), {
      bytes: entry.body.length,
      onDurable: (outcome) => {
        if (outcome.kind !== "appended") return;
        const { kind, epoch, sender, timeMs, bodyVersion, body } = entry;
        this.#watchers.tell(channelId, {
          sequence: outcome.sequence,
          kind,
          epoch,
          sender,
          timeMs,
          bodyVersion,
          body,
        });
      },
    });
  }

  async read(
    channelId: ChannelId,
    from: { after: number; maxBytes: number },
  ): Promise<readonly LogItem[]> {
    checkCount("position", from.after);
    checkCount("size", from.maxBytes);
    return await this.#commits.read(() => this.#entries.read(channelId, from));
  }

  findKey(channelId: ChannelId, key: string): Promise<AppendedEntry | undefined> {
    // Not a read: it comes after what was asked for before and is not written yet.
    return this.#commits.write(() => this.#entries.findKey(channelId, key));
  }

  async findCommit(channelId: ChannelId, epoch: number): Promise<CommitTrace | undefined> {
    checkCount("epoch", epoch);
    return await this.#commits.read(() => this.#entries.findCommit(channelId, epoch));
  }

  watch(channelId: ChannelId, listener: EntryListener): () => void {
    return this.#watchers.add(channelId, listener);
  }

  async saveSnapshot(channelId: ChannelId, snapshot: Snapshot): Promise<void> {
    checkSnapshot(snapshot);
    const bytes = snapshot.state.length;
    await this.#commits.write(() => this.#channels.saveSnapshot(channelId, snapshot), { bytes });
  }

  cursors(channelId: ChannelId): Promise<ReadonlyMap<AgentId, Cursor>> {
    return this.#commits.read(() => this.#cursors.all(channelId));
  }

  async moveCursors(channelId: ChannelId, moves: readonly CursorMove[]): Promise<void> {
    checkCursors(moves);
    if (!await this.#commits.write(() => this.#cursors.move(channelId, moves))) {
      const last = Math.max(...moves.map(([, { consumed }]) => consumed));
      throw new EngineError(
        "invalid",
        `Cannot move a cursor to ${last}: the log does not reach so far`,
      );
    }
  }

  dropCursor(channelId: ChannelId, agentId: AgentId): Promise<void> {
    return this.#commits.write(() => this.#cursors.drop(channelId, agentId));
  }

  queueSize(channelId: ChannelId): Promise<QueueSize> {
    return this.#commits.read(() => this.#entries.queueSize(channelId));
  }

  async trim(channelId: ChannelId, through: number): Promise<void> {
    checkCount("position", through);
    await this.#trimming.trim(channelId, through);
  }

  async dropMessages(channelId: ChannelId, through: number, reason: GapReason): Promise<void> {
    checkCount("position", through);
    await this.#trimming.dropMessages(channelId, through, reason);
  }

  async forget(before: ForgetBefore): Promise<void> {
    for (const timeMs of Object.values(before)) checkCount("time", timeMs);
    await this.#trimming.forget(before);
  }

  async purge(channelId: ChannelId): Promise<void> {
    await this.#trimming.purge(channelId);
  }

  accountBytes(account: AccountId): Promise<number> {
    return this.#commits.read(() => this.#logBytes.ofAccount(account));
  }

  async closedChannels(
    { account, limit }: { account: AccountId; limit: number },
  ): Promise<readonly ChannelId[]> {
    checkCount("limit", limit, engineLimits.channelsPerPage);
    return await this.#commits.read(() => this.#channels.closed(account, limit));
  }

  async largestChannel(account: AccountId): Promise<ChannelId | undefined> {
    let largest: SizedChannel | undefined;
    for (let after = 0;;) {
      const page = await this.#commits.read(() => this.#channels.sizes(account, after));
      for (const channel of page) if (channel.bytes > (largest?.bytes ?? -1)) largest = channel;
      const last = page.at(-1);
      if (last === undefined) return largest?.id;
      after = last.number;
      await nextTurn();
    }
  }

  async backUp(path: string, timeMs: number): Promise<void> {
    checkCount("time", timeMs);
    // The mark of the copy under way must stay.
    if (this.#isBackingUp) {
      throw new EngineError("invalid", "The database is being copied already; wait for it");
    }
    this.#isBackingUp = true;
    const mark = (): Promise<void> => this.#note(copyKey, timeMs);
    try {
      // First by itself: the copy may begin with any group, also with one that was under way
      // before.
      await mark();
      await this.#database.copyTo(path, mark);
    } finally {
      await this.records.delete(copyKey).finally(() => this.#isBackingUp = false);
    }
  }

  async wipe(timeMs: number): Promise<boolean> {
    checkCount("time", timeMs);
    const database = this.#database;
    if (database.isUnconfirmed) return await this.#commits.read(() => database.wipeNow());
    return await database.wipe(() => this.#note(wipedKey, timeMs));
  }

  /** A time, under a key of the engine's own. */
  async #note(key: string, timeMs: number): Promise<void> {
    const value = new TextEncoder().encode(String(timeMs));
    const last = await this.records.get(key);
    await this.records.put(key, { value, expiresAtMs: timeMs + lastingMs }, last?.revision ?? 0);
  }

  storage(): StorageSize {
    return this.#database.storage();
  }

  diskMs(): number {
    return this.#commits.diskMs;
  }

  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    await this.#commits.close();
    this.#watchers.clear();
    if (this.#commits.refusal?.code === "failed") this.#database.release();
    else this.#database.close();
  }
}
