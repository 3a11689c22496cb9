/**
 * A small database of a browser: tables of IndexedDB as promises, every write durable when it
 * resolves. The part of IndexedDB that is used is described here, because Deno's type library has
 * none of it.
 */
import { StoreFault } from "../store/mod.ts";

export interface IndexedDatabase {
  get(table: string, key: Uint8Array | string): Promise<unknown>;
  /** All or nothing, in order. */
  write(table: string, changes: readonly IndexedChange[]): Promise<void>;
  /** Up to `limit` entries in key order, from the range's start. */
  page(table: string, range: KeyRange, limit: number): Promise<readonly IndexedEntry[]>;
  close(): void;
}

export type IndexedChange =
  | { readonly type: "put"; readonly key: Uint8Array | string; readonly value: unknown }
  | { readonly type: "del"; readonly key: Uint8Array | string };

export interface IndexedEntry {
  readonly key: Uint8Array;
  readonly value: unknown;
}

export interface KeyRange {
  readonly from: Uint8Array;
  /** Whether `from` itself is left out. */
  readonly after: boolean;
  /** The first key that does not belong to it; undefined when there is none. */
  readonly to: Uint8Array | undefined;
}

interface IndexedGlobals {
  readonly indexedDB: { open(name: string, version: number): OpenRequest };
  readonly IDBKeyRange: {
    bound(lower: Uint8Array, upper: Uint8Array, lowerOpen: boolean, upperOpen: boolean): object;
    lowerBound(lower: Uint8Array, open: boolean): object;
  };
}

interface NativeRequest<T> {
  readonly result: T;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

interface OpenRequest extends NativeRequest<NativeDatabase> {
  onupgradeneeded: (() => void) | null;
}

interface NativeDatabase {
  createObjectStore(name: string): void;
  transaction(names: string[], mode: string, options?: { durability: "strict" }): NativeTransaction;
  close(): void;
}

interface NativeTransaction {
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  readonly error: unknown;
  objectStore(name: string): Table;
  commit(): void;
}

interface Table {
  get(key: Uint8Array | string): NativeRequest<unknown>;
  getAll(range: object, count: number): NativeRequest<unknown[]>;
  getAllKeys(range: object, count: number): NativeRequest<ArrayBuffer[]>;
  put(value: unknown, key: Uint8Array | string): void;
  delete(key: Uint8Array | string): void;
}

/**
 * Opens the database of this name and origin, which is created with these tables when missing.
 * Throws `unsupported_version` for one with other tables, which only a newer version of this
 * library makes.
 */
export async function openIndexedDatabase(
  name: string,
  tables: readonly string[],
): Promise<IndexedDatabase> {
  const request = browser().indexedDB.open(name, 1);
  request.onupgradeneeded = () =>
    tables.forEach((table) => request.result.createObjectStore(table));
  const database = await resultOf(request).catch(asNewer);
  const reading = (table: string): Table =>
    database.transaction([table], "readonly").objectStore(table);
  return {
    get: (table, key) => resultOf(reading(table).get(key)),
    write: (table, changes) => write(database, table, changes),
    page: async (table, range, limit) => {
      const [store, keyRange] = [reading(table), toKeyRange(range)];
      // Asked in one turn, so that both see the same state.
      const [keys, values] = await Promise.all([
        resultOf(store.getAllKeys(keyRange, limit)),
        resultOf(store.getAll(keyRange, limit)),
      ]);
      return keys.map((key, i) => ({ key: new Uint8Array(key), value: values[i] }));
    },
    close: () => database.close(),
  };
}

function asNewer(cause: unknown): never {
  if (!(cause instanceof Error) || cause.name !== "VersionError") throw cause;
  const text =
    "Cannot open the store: a newer version of this library wrote it. Update this one. Nothing was changed";
  throw new StoreFault("unsupported_version", text, { cause });
}

/** By default a browser acknowledges what the operating system has not yet written. */
function write(
  database: NativeDatabase,
  table: string,
  changes: readonly IndexedChange[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction([table], "readwrite", { durability: "strict" });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    const store = transaction.objectStore(table);
    for (const change of changes) {
      if (change.type === "put") store.put(change.value, change.key);
      else store.delete(change.key);
    }
    transaction.commit();
  });
}

function toKeyRange({ from, after, to }: KeyRange): object {
  const { IDBKeyRange } = browser();
  return to === undefined
    ? IDBKeyRange.lowerBound(from, after)
    : IDBKeyRange.bound(from, to, after, true);
}

function resultOf<T>(request: NativeRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function browser(): IndexedGlobals {
  // cast: the part of a browser's globals that is described above
  return globalThis as unknown as IndexedGlobals;
}
