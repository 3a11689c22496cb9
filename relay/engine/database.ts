/**
 * An SQLite database whose event loop never waits for a disk. Commits go to the write-ahead log
 * without a sync; `sync` then has the operating system confirm the log, off the main thread, and
 * only what was confirmed is told to anyone. The log is copied back (`checkpoint`) without a sync
 * too, and the copy confirmed before the log is written from its start again, so that at every
 * moment log and file together hold whatever was confirmed. `relay/engine/README.md` has the whole
 * argument.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { type DiskSpace, readDiskSpace, roomInFile, unknownSpace } from "./disk_space.ts";
import type { StorageSize } from "./engine.ts";
import { EngineError, faultOf } from "./errors.ts";
import { type OpenForSync, openForSync as openReally, type SyncHandle } from "./sync_handle.ts";
import {
  checkFormat,
  checkMark,
  migrate,
  type MigratedFile,
  type Migration,
  migrations as allMigrations,
} from "./migrations.ts";
import { pageBytes } from "./schema.ts";

export type Value = string | number | null | Uint8Array;

export interface DatabaseOptions {
  /** A file, or `:memory:` for a database that lives as long as the process and never waits. */
  readonly path: string;
  /**
   * Pages of the write-ahead log above which it is copied back. 4 MiB by default: a few
   * milliseconds of copying.
   */
  readonly checkpointPages?: number;
  /** The content can be had again from elsewhere: nothing waits for the disk. */
  readonly isCopy?: boolean;
  /** Size limit of the file on its disk, if there is one. */
  readonly maxBytes?: number | undefined;
  /** How files are opened to have their content confirmed; tests put faults here. */
  readonly openForSync?: OpenForSync;
  /** Every change of the format; tests add to them. */
  readonly migrations?: readonly Migration[];
  /** An older file was brought to this relay's format. */
  readonly onMigrated?: (migrated: MigratedFile) => void;
}

/**
 * A file in memory. Not SQLite's own `:memory:`, which walks over every page it ever changed at
 * each commit and so becomes slower as it grows. At most 1 GiB; what is above it is refused as by a
 * full disk.
 */
const memoryPath = "file:relay?vfs=memdb";
const memoryBytes = 1024 ** 3;

/** The length of the log is asked for about so often until it is copied back. */
const askedParts = 16;

interface DatabaseParts {
  readonly path: string;
  readonly checkpointPages: number;
  readonly maxBytes: number;
  readonly readDisk: () => DiskSpace;
  readonly isCopy: boolean;
}

/**
 * The result of a checkpoint: pages that are in the log, and those of them that are in the file
 * too.
 */
interface Copied {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

interface SyncHandles {
  readonly log: SyncHandle;
  readonly file: SyncHandle;
}

/** Counted by statements, so that SQLite need not be asked with every group. */
interface WriteCounts {
  /** Since the transaction began. */
  rows: number;
  /** Since the length of the log was asked for: less than what they take there. */
  pages: number;
}

/**
 * A prepared statement with the shape of its rows. Without `iterate`: the runtime's ends quietly at
 * a damaged page.
 */
export class Statement<Row = never> {
  readonly #statement: StatementSync;
  readonly #written: WriteCounts;

  constructor(statement: StatementSync, written: WriteCounts) {
    this.#statement = statement;
    this.#written = written;
  }

  get(...values: Value[]): Row | undefined {
    // cast: the shape of the statement's own columns
    return this.#statement.get(...input(values)) as Row | undefined;
  }

  all(...values: Value[]): Row[] {
    // cast: the shape of the statement's own columns
    return this.#statement.all(...input(values)) as Row[];
  }

  /** How many rows it changed. */
  run(...values: Value[]): number {
    const rows = Number(this.#statement.run(...input(values)).changes);
    if (rows === 0) return 0;
    this.#written.rows += rows;
    this.#written.pages += rows;
    for (const value of values) {
      if (value instanceof Uint8Array) this.#written.pages += Math.floor(value.length / pageBytes);
    }
    return rows;
  }
}

/** The runtime's type wants the buffer's kind, which does not matter to SQLite: it copies. */
function input(values: Value[]): SQLInputValue[] {
  return values as SQLInputValue[]; // cast: any Uint8Array is a view of bytes
}

export class Database {
  /** The file's content can be had again from elsewhere. */
  readonly isCopy: boolean;
  readonly #sqlite: DatabaseSync;
  readonly #handles: SyncHandles | undefined;
  readonly #checkpointPages: number;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #written: WriteCounts = { rows: 0, pages: 0 };
  readonly #logPages: Statement<{ log: number }>;
  readonly #checkpoints: {
    readonly copyBack: Statement<Copied>;
    readonly cutLog: Statement<Copied>;
  };
  readonly #pages: {
    readonly all: Statement<{ page_count: number }>;
    readonly free: Statement<{ freelist_count: number }>;
  };
  readonly #readDisk: () => DiskSpace;
  readonly #maxBytes: number;
  readonly #path: string;
  /** Somebody waits until nothing that was deleted is left in the log. */
  #wiping: PromiseWithResolvers<boolean> | undefined;
  /** A copy is wanted, or being made: the file is whole and stays as it is, and the log grows. */
  #copying: { readonly whole: PromiseWithResolvers<void>; isWhole: boolean } | undefined;
  #checkpointAt: number;

  private constructor(
    sqlite: DatabaseSync,
    handles: SyncHandles | undefined,
    { path, checkpointPages, maxBytes, readDisk, isCopy }: DatabaseParts,
  ) {
    this.isCopy = isCopy;
    this.#sqlite = sqlite;
    this.#path = path;
    this.#readDisk = readDisk;
    this.#maxBytes = maxBytes;
    this.#handles = handles;
    this.#checkpointPages = checkpointPages;
    this.#checkpointAt = checkpointPages;
    this.#begin = sqlite.prepare("BEGIN IMMEDIATE");
    this.#commit = sqlite.prepare("COMMIT");
    this.#logPages = this.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#checkpoints = {
      copyBack: this.prepare("PRAGMA wal_checkpoint(PASSIVE)"),
      cutLog: this.prepare("PRAGMA wal_checkpoint(TRUNCATE)"),
    };
    this.#pages = {
      all: this.prepare("PRAGMA page_count"),
      free: this.prepare("PRAGMA freelist_count"),
    };
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    const { path, checkpointPages = 4 * 1024 * 1024 / pageBytes, openForSync = openReally } =
      options;
    const { migrations = allMigrations, onMigrated = () => {}, isCopy = false } = options;
    const inMemory = path === ":memory:";
    const { maxBytes = inMemory ? memoryBytes : Infinity } = options;
    const readDisk = (): DiskSpace => inMemory ? unknownSpace : readDiskSpace(path);
    const parts = { path, checkpointPages, maxBytes, readDisk, isCopy };
    let sqlite: DatabaseSync | undefined;
    try {
      if (!inMemory) await createPrivateFile(path);
      sqlite = new DatabaseSync(inMemory ? memoryPath : path);
      const migrated = configure(sqlite, path, migrations);
      if (isCopy) sqlite.exec("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 1000");
      if (inMemory || isCopy) return new Database(sqlite, undefined, parts);
      const handles = {
        log: await openForSync(`${path}-wal`, "log"),
        file: await openForSync(path, "locked"),
      };
      const database = new Database(sqlite, handles, parts);
      try {
        // Pages that a killed process left in the log were perhaps never confirmed, and are about
        // to be read.
        await database.sync();
        await syncFolder(path);
        if (migrated.from > 0 && migrated.names.length > 0) onMigrated(migrated);
      } catch (cause) {
        database.release();
        throw cause;
      }
      return database;
    } catch (cause) {
      sqlite?.close();
      throw faultOf(`open the relay's database ${path}`, cause);
    }
  }

  /** Nobody waits for a disk. */
  get isUnconfirmed(): boolean {
    return this.#handles === undefined;
  }

  prepare<Row = never>(sql: string): Statement<Row> {
    return new Statement<Row>(this.#sqlite.prepare(sql), this.#written);
  }

  begin(): void {
    this.#written.rows = 0;
    this.#begin.run();
  }

  /** Returns whether anything has to be confirmed by `sync` now. */
  commit(): boolean {
    this.#commit.run();
    return this.#handles !== undefined && this.#written.rows > 0;
  }

  rollback(): void {
    // SQLite may have rolled back on its own when the disk was full.
    if (this.#sqlite.isTransaction) this.#sqlite.exec("ROLLBACK");
  }

  /** Everything committed so far survives a loss of power when this resolves. */
  async sync(): Promise<void> {
    await this.#handles?.log.syncData();
  }

  /**
   * Copies the log back when it is long. Call it after `sync`, and commit nothing until it
   * resolves: from then on the next commit overwrites the log.
   */
  async checkpoint(): Promise<void> {
    if (this.#handles === undefined || this.#copying?.isWhole === true) return;
    const isAsked = this.#copying !== undefined || this.#wiping !== undefined;
    // Asking costs as much as a statement that writes: not before the log can have become longer by
    // a part of its length.
    if (this.#written.pages < this.#checkpointPages / askedParts && !isAsked) return;
    this.#written.pages = 0;
    const pages = this.#logPages.get()?.log ?? 0;
    if (pages < this.#checkpointAt && !isAsked) return;
    if (this.#copyLogBack(this.#checkpoints.copyBack)) {
      this.#checkpointAt = this.#checkpointPages;
      await this.#handles.file.syncData().catch((cause: unknown) => {
        this.#wiping?.resolve(false);
        throw cause;
      });
      // Not before the file is confirmed: until then the log is the only place that is.
      this.#wiping?.resolve(this.#copyLogBack(this.#checkpoints.cutLog));
      if (this.#copying === undefined) return;
      this.#copying.isWhole = true;
      this.#copying.whole.resolve();
    } else {
      this.#wiping?.resolve(false);
      this.#copying?.whole.reject(
        new EngineError("io", "Cannot copy the database: its disk is full. Make space first"),
      );
      // A full disk: the log has everything and goes on growing; space may come before the next
      // attempt.
      this.#checkpointAt = pages + this.#checkpointPages;
    }
  }

  /**
   * A copy of everything that is durable now, at `path`. `write` must make a group, whose
   * checkpoint begins the copy. Commits go on meanwhile: they are in the log alone, so the file
   * does not change under the copy.
   */
  async copyTo(path: string, write: () => Promise<unknown>): Promise<void> {
    const file = this.#handles?.file;
    if (file?.copyTo === undefined) {
      throw new EngineError("invalid", "A database in memory cannot be copied");
    }
    if (this.#copying !== undefined) {
      throw new EngineError("invalid", "The database is being copied already; wait for it");
    }
    const whole = Promise.withResolvers<void>();
    this.#copying = { whole, isWhole: false };
    try {
      await Promise.all([write(), whole.promise]);
      const unfinished = `${path}.unfinished`;
      await file.copyTo(unfinished);
      await Deno.rename(unfinished, path);
      await syncFolder(path);
    } catch (cause) {
      throw faultOf(`copy the relay's database to ${path}`, cause);
    } finally {
      this.#copying = undefined;
    }
  }

  /**
   * A copy of everything that is committed, at once: nothing else runs meanwhile. Only of the copy
   * of a log, which is nobody else's: opening its file here gives up the lock on it. SQLite's own
   * way of copying attaches a database, which the runtime allows only to programs that may read and
   * write everything.
   */
  copyNow(path: string): void {
    if (this.#path === ":memory:") {
      // Without the name of a file system the copy would be in memory, too.
      return void this.#sqlite.prepare("VACUUM INTO ?").run(`file:${encodeURI(path)}?vfs=unix`);
    }
    const { busy, log, checkpointed } = this.#checkpoints.copyBack.get() ??
      { busy: 1, log: 0, checkpointed: 0 };
    if (busy !== 0 || log !== checkpointed) {
      throw new EngineError("io", `Cannot copy ${this.#path}: it is not whole. Is the disk full?`);
    }
    Deno.copyFileSync(this.#path, path);
  }

  /**
   * Leaves nothing in the files of what was deleted before: the file has zeros in its place
   * (`secure_delete`), and the log, which keeps old pages until others are written over them, is
   * cut off. `write` must make a group, whose checkpoint does it. Returns whether it is done: not
   * while the file is being copied, or when its disk is full.
   */
  async wipe(write: () => Promise<unknown>): Promise<boolean> {
    if (this.#copying !== undefined || this.#wiping !== undefined) return false;
    const wiping = this.#wiping = Promise.withResolvers<boolean>();
    try {
      await write();
      return await wiping.promise;
    } finally {
      this.#wiping = undefined;
    }
  }

  /** The same for a database that waits for no disk, at once: call it between two groups. */
  wipeNow(): boolean {
    return this.#path === ":memory:" || this.#copyLogBack(this.#checkpoints.cutLog);
  }

  /** Without a sync of its own, because that would block; the caller has the file confirmed. */
  #copyLogBack(checkpoint: Statement<Copied>): boolean {
    this.#sqlite.exec("PRAGMA synchronous = OFF");
    try {
      const result = checkpoint.get();
      return result !== undefined && result.busy === 0 && result.log === result.checkpointed;
    } catch {
      return false;
    } finally {
      // NORMAL: SQLite syncs the log's header, and nothing else, when it starts the log anew.
      if (!this.isCopy) this.#sqlite.exec("PRAGMA synchronous = NORMAL");
    }
  }

  storage(): StorageSize {
    const fileBytes = (this.#pages.all.get()?.page_count ?? 0) * pageBytes;
    const freeBytes = (this.#pages.free.get()?.freelist_count ?? 0) * pageBytes;
    const space = roomInFile(this.#readDisk(), { maxBytes: this.#maxBytes, fileBytes, freeBytes });
    return { usedBytes: fileBytes - freeBytes, ...space };
  }

  close(): void {
    this.#sqlite.close();
    this.release();
  }

  /**
   * Lets go of the files without closing the database: after a failed sync nobody knows what is on
   * disk, and closing would copy the log back and delete it. The process is expected to end.
   */
  release(): void {
    this.#handles?.log.close();
    this.#handles?.file.close();
  }
}

function configure(
  sqlite: DatabaseSync,
  path: string,
  migrations: readonly Migration[],
): MigratedFile {
  const pragma = (text: string): unknown =>
    Object.values(sqlite.prepare(`PRAGMA ${text}`).get() ?? {})[0];
  sqlite.exec(`PRAGMA busy_timeout = 0; PRAGMA page_size = ${pageBytes}`);
  // Held from the first access until the process ends, however it ends; and no shared memory file
  // is needed.
  pragma("locking_mode = EXCLUSIVE");
  const format = Number(pragma("user_version"));
  const empty = format === 0 &&
    sqlite.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n === 0;
  // Before anything is changed: the file may be somebody else's.
  if (!empty) checkMark(path, Number(pragma("application_id")));
  checkFormat(path, format, migrations.length);
  pragma("journal_mode = WAL");
  sqlite.exec(`
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA cache_size = -32768;
    PRAGMA temp_store = MEMORY;
    PRAGMA secure_delete = ON;
  `);
  return migrate(sqlite, format, migrations);
}

/**
 * Readable by its owner only, from the moment it exists; SQLite gives the log the same mode. A file
 * that others may read was copied there, from a backup perhaps: nobody else has business with it.
 */
async function createPrivateFile(path: string): Promise<void> {
  try {
    (await Deno.open(path, { write: true, createNew: true, mode: 0o600 })).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  for (const file of [path, `${path}-wal`]) {
    const mode = await Deno.stat(file).then(({ mode }) => mode ?? 0, () => 0);
    if ((mode & 0o077) !== 0) await Deno.chmod(file, 0o600);
  }
}

/** So that the names of new files survive too. */
async function syncFolder(path: string): Promise<void> {
  const slash = path.lastIndexOf("/");
  const folder = await Deno.open(slash < 0 ? "." : path.slice(0, slash + 1));
  try {
    await folder.sync();
  } finally {
    folder.close();
  }
}
