/** A `BlobStore` over an `abstract-level` database: `classic-level` on disk. */
import {
  afterPrefix,
  type Blob,
  type BlobChange,
  type BlobStore,
  findRefusal,
  StoreFault,
} from "../store/mod.ts";

/** The part that is used of a database whose keys and values are both bytes. */
export interface LevelDatabase {
  open(): Promise<void>;
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  batch(changes: BlobChange[], options: { sync: boolean }): Promise<void>;
  iterator(range: { gte: Uint8Array; lt?: Uint8Array }): AsyncIterable<[Uint8Array, Uint8Array]>;
  close(): Promise<void>;
}

export const bytesToBytes = { keyEncoding: "view", valueEncoding: "view" } as const;

export async function openLevelBlobs(
  database: LevelDatabase,
  release: () => void | Promise<void>,
): Promise<BlobStore> {
  try {
    await database.open();
  } catch (error) {
    await release();
    throw openingError(error);
  }
  return {
    get: async (key) => {
      const value = await explained(() => database.get(key));
      return value === undefined ? undefined : plain(value);
    },
    write: async (changes) => await database.batch([...changes], { sync: true }),
    list: (prefix) => list(database, prefix),
    close: async () => {
      await database.close();
      await release();
    },
  };
}

async function* list(database: LevelDatabase, prefix: Uint8Array): AsyncIterable<Blob> {
  const lt = afterPrefix(prefix);
  const iterator = database.iterator({ gte: prefix, ...(lt === undefined ? {} : { lt }) });
  try {
    for await (const [key, value] of iterator) yield { key: plain(key), value: plain(value) };
  } catch (error) {
    throw readingError(error);
  }
}

/** Node's `Buffer` claims to be a `Uint8Array`, but its `slice` does not copy. */
function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

async function explained<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw readingError(error);
  }
}

function readingError(cause: unknown): unknown {
  if (codeOf(cause) !== "LEVEL_CORRUPTION" && codeOf(cause) !== "LEVEL_IO_ERROR") return cause;
  const refusal = findRefusal("Cannot read the store", cause);
  if (refusal !== undefined) return refusal;
  const text =
    "Cannot read the store: a file of its database is damaged; restore it, or repair it and open it again";
  return new StoreFault("store_corrupt", text, { cause, kind: "database" });
}

/** Why a database did not open. */
export function openingError(cause: unknown): StoreFault {
  if (codeOf(cause) === "LEVEL_LOCKED") {
    return new StoreFault(
      "store_locked",
      "Cannot open the store: another process has it open; stop that one first",
      {
        cause,
      },
    );
  }
  const refusal = findRefusal("Cannot open the store", cause);
  if (refusal !== undefined) return refusal;
  const text =
    "Cannot open the store: its database is damaged; restore it, or repair it and open it again";
  return new StoreFault("store_corrupt", text, { cause, kind: "database" });
}

/** The reason is the innermost cause with a code: `abstract-level` wraps what the database said. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return codeOf(error.cause) ??
    ("code" in error && typeof error.code === "string" ? error.code : undefined);
}
