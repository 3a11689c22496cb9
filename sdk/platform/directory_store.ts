/**
 * The store in a directory, for Node and Deno:
 *
 *   lock/    an empty LevelDB, because its lock works in both runtimes and ends with its process
 *   key      the data key, plain or wrapped (0600)
 *   witness  the last acknowledged generation (0600)
 *   period   the secret of the current period, overwritten in place (0600)
 *   db/      LevelDB with everything else (0700, its files 0600); see `clean_copy.ts` for what becomes of it when it is closed
 */
import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { chmod, open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import {
  type BlobStore,
  checkDraft,
  type KeyStorage,
  type PeriodStorage,
  RecordStore,
  refusalOf,
  StoreFault,
  type StoreOptions,
  type StoreParts,
} from "../store/mod.ts";
import { changeToCopy, copyLive, settleCopies } from "./clean_copy.ts";
import { hasCode } from "./errno.ts";
import { bytesToBytes, openingError, openLevelBlobs } from "./level_blobs.ts";
import { findDamagedTables, setAside } from "./leveldb_tables.ts";
import { makeOwnerFolder } from "./owner_folder.ts";
import { holdOwnerOnly } from "./owner_only.ts";
import { after } from "./timers.ts";

export { RecordStore, StoreFault, type StoreOptions, type StoreReader } from "../store/mod.ts";

const ownerFile = 0o600;
/** More than any version writes: a key file is read whole. */
const maxKeyFileBytes = 4096;
const witnessBytes = 41;

/**
 * Opens the store in a directory, which is created when missing. Throws `StoreError`. `changed`:
 * for tests, of what the store stands on.
 */
export async function openDirectoryStore(
  directory: string,
  options: StoreOptions = {},
  changed: (parts: StoreParts) => StoreParts = (parts) => parts,
): Promise<RecordStore> {
  const { blobs, leaveCopy } = await openDatabase(directory, options.repair ?? false);
  try {
    const witness = openWitness(join(directory, "witness"));
    let sound = false;
    const close = async (): Promise<void> => {
      try {
        witness.close();
        if (sound) await leaveCopy();
      } finally {
        await blobs.close();
      }
    };
    const periods = periodFile(directory);
    const parts = {
      blobs: { ...blobs, close },
      keys: keyFile(directory),
      witness,
      periods,
      random,
    };
    const store = await RecordStore.open(changed(parts), options);
    sound = store.faults.length === 0;
    return store;
  } catch (error) {
    await blobs.close();
    throw error instanceof StoreFault ? error : refusalOf("Cannot open the store", error);
  }
}

interface OpenDatabase {
  readonly blobs: BlobStore;
  /** Called before closing: what was deleted is then gone from the files too. */
  readonly leaveCopy: () => Promise<void>;
}

async function openDatabase(directory: string, repair: boolean): Promise<OpenDatabase> {
  const location = join(directory, "db");
  const giveUmaskBack = holdOwnerOnly();
  let unlock: (() => Promise<void>) | undefined;
  let copied = false;
  const release = async (): Promise<void> => {
    try {
      if (copied) await changeToCopy(directory);
    } finally {
      await unlock?.();
      giveUmaskBack();
    }
  };
  try {
    // Before any database is opened: opening one writes to its files.
    const key = await keyFile(directory).read();
    if (key !== undefined) checkDraft(key);
    await makeOwnerFolder(directory);
    unlock = await lock(join(directory, "lock"));
    await settleCopies(directory);
    await makeOwnerFolder(location);
    await checkTables(location, repair);
  } catch (cause) {
    await release();
    throw cause instanceof StoreFault
      ? cause
      : refusalOf("Cannot prepare the store's folder", cause);
  }
  // Ciphertext cannot be compressed, so trying would only cost time.
  const database = new ClassicLevel<Uint8Array, Uint8Array>(location, {
    ...bytesToBytes,
    compression: false,
  });
  const blobs = await openLevelBlobs(database, release);
  return { blobs, leaveCopy: async () => void (copied = await copyLive(directory, blobs)) };
}

/** Taken before anything else is looked at: what another process is writing looks damaged. */
async function lock(location: string): Promise<() => Promise<void>> {
  for (let attempt = 0;; attempt++) {
    const database = new ClassicLevel(location);
    try {
      await database.open();
      return () => database.close();
    } catch (cause) {
      const error = openingError(cause);
      if (error.code !== "store_corrupt" || attempt > 0) throw error;
      // The lock's database holds nothing, so when it is damaged it is made anew.
      await rm(location, { recursive: true });
    }
  }
}

async function checkTables(location: string, repair: boolean): Promise<void> {
  const damaged = await findDamagedTables(location);
  if (repair) {
    await setAside(location, damaged);
    await ClassicLevel.repair(location);
  } else if (damaged.length > 0) {
    const text =
      `Cannot open the store: ${damaged.length} files of its database are damaged; restore them, or repair it ` +
      "and open it again";
    throw new StoreFault("store_corrupt", text, { kind: "database" });
  }
}

function random(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

function keyFile(directory: string): KeyStorage {
  const path = join(directory, "key");
  return {
    read: async () => {
      try {
        const { size, mode } = await stat(path);
        if (size > maxKeyFileBytes) return new Uint8Array(0);
        // A backup may have come back readable by others.
        if ((mode & 0o077) !== 0) await chmod(path, ownerFile);
        return Uint8Array.from(await readFile(path));
      } catch (error) {
        if (hasCode(error, "ENOENT")) return undefined;
        throw error;
      }
    },
    write: async (bytes) => {
      const fresh = `${path}.new`;
      await rm(fresh, { force: true });
      await withFile(fresh, "wx", async (file) => {
        await file.writeFile(bytes);
        await file.sync();
      });
      await rename(fresh, path);
      await withFile(directory, "r", (folder) => folder.sync());
    },
  };
}

/**
 * The file's blocks are written when it is made: what is overwritten later is overwritten where it
 * lies, if the file system can.
 */
function periodFile(directory: string): PeriodStorage {
  const path = join(directory, "period");
  const write = async (bytes: Uint8Array, at: number): Promise<void> => {
    await withFile(path, constants.O_RDWR | constants.O_CREAT, async (file) => {
      for (let done = 0; done < bytes.length;) {
        done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
      }
      await file.sync();
    });
  };
  return {
    read: async () => {
      try {
        return Uint8Array.from(await readFile(path));
      } catch (error) {
        if (hasCode(error, "ENOENT")) return undefined;
        throw error;
      }
    },
    create: async (places) => {
      await write(places, 0);
      await withFile(directory, "r", (folder) => folder.sync());
    },
    overwrite: (place, bytes) => write(bytes, place * bytes.length),
    after,
  };
}

type OpenFile = Awaited<ReturnType<typeof open>>;

async function withFile(
  path: string,
  flags: string | number,
  act: (file: OpenFile) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags, ownerFile);
  try {
    await act(file);
  } finally {
    await file.close();
  }
}

/**
 * Written in place, without waiting for the disk: after a power failure it may be older than the
 * database, which is harmless. Its few bytes lie in one sector, so they are never half new.
 */
function openWitness(
  path: string,
): { read(): Promise<Uint8Array | undefined>; write(bytes: Uint8Array): void; close(): void } {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, ownerFile);
  return {
    read: () => {
      const bytes = new Uint8Array(witnessBytes + 1);
      const length = readSync(file, bytes, 0, bytes.length, 0);
      return Promise.resolve(length === 0 ? undefined : bytes.slice(0, length));
    },
    write: (bytes) => void writeSync(file, bytes, 0, bytes.length, 0),
    close: () => {
      fsyncSync(file);
      closeSync(file);
    },
  };
}
