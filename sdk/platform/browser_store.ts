/**
 * The store in a browser: records in IndexedDB (strict durability), the key file beside them, sealed by a WebCrypto key that
 * cannot be read out, and a Web Lock for exclusivity. There is no second place that a page can write to without waiting, so
 * there is no witness: a profile that was restored as a whole is not noticed.
 */
import { BrowserLevel } from "browser-level";
import { type KeyStorage, RecordStore, StoreError, type StoreOptions } from "../store/mod.ts";
import { bytesToBytes, openLevelBlobs } from "./level_blobs.ts";

export { RecordStore, StoreError, type StoreOptions } from "../store/mod.ts";

/** What is used of IndexedDB and Web Locks: Deno's type library has neither. */
interface BrowserGlobals {
  readonly indexedDB: { open(name: string, version: number): OpenRequest };
  readonly navigator: {
    readonly locks: {
      request(
        name: string,
        options: { ifAvailable: true },
        held: (lock: object | null) => Promise<void> | void,
      ): Promise<void>;
    };
  };
}

interface Request<T> {
  result: T;
  error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

interface OpenRequest extends Request<Database> {
  onupgradeneeded: (() => void) | null;
}

interface Database {
  createObjectStore(name: string): void;
  transaction(names: string[], mode: string, options?: { durability: "strict" }): Transaction;
  close(): void;
}

interface Transaction {
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  error: unknown;
  objectStore(name: string): {
    get(key: string): Request<unknown>;
    put(value: unknown, key: string): Request<unknown>;
  };
}

/** A key file, encrypted; the wrapping key stays inside the browser. */
interface SealedKeyFile {
  readonly wrappingKey: CryptoKey;
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly sealed: ArrayBuffer;
}

const keyTable = "key";

/** Opens the store of this name and origin, which is created when missing. Throws `StoreError`. */
export async function openBrowserStore(name: string, options: StoreOptions = {}): Promise<RecordStore> {
  const release = await lock(`static-store ${name}`);
  const level = new BrowserLevel<Uint8Array, Uint8Array>(name, { ...bytesToBytes, prefix: "static-" });
  const blobs = await openLevelBlobs(level, release);
  makeDurable(level);
  let keys: Database | undefined;
  try {
    const database = keys = await openKeyDatabase(`static-key-${name}`);
    const close = async (): Promise<void> => {
      database.close();
      await blobs.close();
    };
    return await RecordStore.open({ blobs: { ...blobs, close }, keys: sealedKeyFile(database), random }, options);
  } catch (error) {
    keys?.close();
    await blobs.close();
    throw error;
  }
}

function browser(): BrowserGlobals {
  return globalThis as unknown as BrowserGlobals; // cast: the part of a browser's globals that is described above
}

/** Resolves to the function that releases the lock. */
function lock(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    browser().navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) {
        const text = "Cannot open the store: another tab or worker has it open; close that one first";
        return reject(new StoreError("store_locked", text));
      }
      return new Promise<void>((release) => resolve(release));
    }).catch(reject);
  });
}

/** By default a browser acknowledges what the operating system has not yet written. */
function makeDurable(level: object): void {
  const { db } = level as { db: Database }; // cast: browser-level's own property, not in its types
  const transaction = db.transaction.bind(db);
  db.transaction = (names, mode) => transaction(names, mode, { durability: "strict" });
}

function random(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

function openKeyDatabase(name: string): Promise<Database> {
  const request = browser().indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(keyTable);
  return resultOf(request);
}

function sealedKeyFile(database: Database): KeyStorage {
  return {
    read: async () => {
      const stored = await resultOf(database.transaction([keyTable], "readonly").objectStore(keyTable).get(keyTable));
      if (stored === undefined) return undefined;
      const { wrappingKey, iv, sealed } = stored as SealedKeyFile; // cast: only `write` below writes here
      try {
        return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, wrappingKey, sealed));
      } catch (cause) {
        throw new StoreError("store_corrupt", "Cannot read the key file: it is damaged", { cause, kind: "key file" });
      }
    },
    write: async (bytes) => {
      const algorithm = { name: "AES-GCM", length: 256 };
      const wrappingKey = await crypto.subtle.generateKey(algorithm, false, ["encrypt", "decrypt"]);
      const iv = random(12);
      const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, wrappingKey, Uint8Array.from(bytes));
      const transaction = database.transaction([keyTable], "readwrite", { durability: "strict" });
      const stored: SealedKeyFile = { wrappingKey, iv, sealed };
      transaction.objectStore(keyTable).put(stored, keyTable);
      await new Promise<void>((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
    },
  };
}

function resultOf<T>(request: Request<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
