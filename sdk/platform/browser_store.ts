/**
 * The store in a browser: one IndexedDB with the records and, beside them, the key file, sealed by
 * a WebCrypto key that cannot be read out; and a Web Lock for exclusivity. A page has no second
 * place to write to without waiting, so there is no witness: a profile that was restored as a whole
 * is not noticed.
 */
import {
  afterPrefix,
  type Blob,
  type BlobStore,
  type KeyStorage,
  RecordStore,
  refusalOf,
  StoreFault,
  type StoreOptions,
} from "../store/mod.ts";
import { type IndexedDatabase, openIndexedDatabase } from "./indexed_db.ts";
import { randomBytes } from "./timers.ts";

export { RecordStore, StoreFault, type StoreOptions, type StoreReader } from "../store/mod.ts";

/** The part of Web Locks that is used: Deno's type library does not have them. */
interface LockGlobals {
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

/** A key file, encrypted; the wrapping key stays inside the browser. */
interface SealedKeyFile {
  readonly wrappingKey: CryptoKey;
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly sealed: ArrayBuffer;
}

const blobTable = "blobs";
const keyTable = "key";
/** Blobs read at a time: a record is a few kilobytes. */
const pageLimit = 256;

/** Opens the store of this name and origin, which is created when missing. Throws `StoreError`. */
export async function openBrowserStore(
  name: string,
  options: StoreOptions = {},
): Promise<RecordStore> {
  const release = await lock(`static-store ${name}`);
  let database: IndexedDatabase | undefined;
  const close = (): Promise<void> => {
    database?.close();
    release();
    return Promise.resolve();
  };
  try {
    const opened = database = await openIndexedDatabase(`static-${name}`, [blobTable, keyTable]);
    return await RecordStore.open({
      blobs: { ...indexedBlobs(opened), close },
      keys: sealedKeyFile(opened),
      random: randomBytes,
    }, options);
  } catch (error) {
    await close();
    throw error instanceof StoreFault ? error : refusalOf("Cannot open the store", error);
  }
}

/** Resolves to the function that releases the lock. */
function lock(name: string): Promise<() => void> {
  const { navigator } = globalThis as unknown as LockGlobals; // cast: as described above
  return new Promise((resolve, reject) => {
    navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) {
        const text =
          "Cannot open the store: another tab or worker has it open; close that one first";
        return reject(new StoreFault("store_locked", text));
      }
      return new Promise<void>((release) => resolve(release));
    }).catch(reject);
  });
}

function indexedBlobs(database: IndexedDatabase): Omit<BlobStore, "close"> {
  return {
    get: async (key) => {
      const value = await database.get(blobTable, key);
      return value instanceof Uint8Array ? value : undefined;
    },
    // A view would be stored with all of the memory that it is a part of.
    write: (changes) =>
      database.write(
        blobTable,
        changes.map((change) =>
          change.type === "put" ? { ...change, value: change.value.slice() } : change
        ),
      ),
    list: (prefix) => list(database, prefix),
  };
}

async function* list(database: IndexedDatabase, prefix: Uint8Array): AsyncIterable<Blob> {
  const to = afterPrefix(prefix);
  let [from, after] = [prefix, false];
  for (;;) {
    const entries = await database.page(blobTable, { from, after, to }, pageLimit);
    for (const { key, value } of entries) {
      if (value instanceof Uint8Array) yield { key, value };
      [from, after] = [key, true];
    }
    if (entries.length < pageLimit) return;
  }
}

function sealedKeyFile(database: IndexedDatabase): KeyStorage {
  return {
    read: async () => {
      const stored = await database.get(keyTable, keyTable);
      if (stored === undefined) return undefined;
      // cast: only `write` below writes here
      const { wrappingKey, iv, sealed } = stored as SealedKeyFile;
      try {
        return new Uint8Array(
          await crypto.subtle.decrypt({ name: "AES-GCM", iv }, wrappingKey, sealed),
        );
      } catch (cause) {
        throw new StoreFault("store_corrupt", "Cannot read the key file: it is damaged", {
          cause,
          kind: "key file",
        });
      }
    },
    write: async (bytes) => {
      const algorithm = { name: "AES-GCM", length: 256 };
      const wrappingKey = await crypto.subtle.generateKey(algorithm, false, ["encrypt", "decrypt"]);
      const iv = randomBytes(12);
      const sealed = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv },
        wrappingKey,
        Uint8Array.from(bytes),
      );
      const value: SealedKeyFile = { wrappingKey, iv, sealed };
      await database.write(keyTable, [{ type: "put", key: keyTable, value }]);
    },
  };
}
