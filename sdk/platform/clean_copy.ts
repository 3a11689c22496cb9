/**
 * Overwritten and deleted values stay in LevelDB's files until it merges them, which may be never;
 * a thief with the store's key could read them there. So when a store is closed, the remaining
 * records are copied to a new database, which takes the place of the old one:
 *
 *   db.new   the copy, until it is complete
 *   db.old   the database before, between two renames and until it is deleted
 *
 * A crash at any point leaves one of them complete; `settleCopies` finds out which.
 */
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import type { BlobChange, BlobStore } from "../store/mod.ts";
import { hasCode } from "./errno.ts";
import { bytesToBytes } from "./level_blobs.ts";
import { ownerFolder } from "./owner_folder.ts";

const everything = new Uint8Array(0);
const maxBatchBytes = 1024 * 1024;

type CopiedDatabase = ClassicLevel<Uint8Array, Uint8Array>;

interface CopyFolders {
  readonly current: string;
  readonly fresh: string;
  readonly old: string;
}

function placesIn(directory: string): CopyFolders {
  return {
    current: join(directory, "db"),
    fresh: join(directory, "db.new"),
    old: join(directory, "db.old"),
  };
}

/** Before the database is opened: ends what a crash has interrupted. */
export async function settleCopies(directory: string): Promise<void> {
  const { current, fresh, old } = placesIn(directory);
  if (!await exists(current) && await exists(old)) await rename(old, current);
  await rm(fresh, { recursive: true, force: true });
  await rm(old, { recursive: true, force: true });
}

/**
 * Copies the database while it is open and nothing writes to it any more. Returns whether there is
 * a copy to change to.
 */
export async function copyLive(
  directory: string,
  blobs: Pick<BlobStore, "list">,
): Promise<boolean> {
  const { current, fresh } = placesIn(directory);
  try {
    // Repaired: what was set aside is in this folder, and for its owner to look at.
    if ((await readdir(current)).some((name) => name.endsWith(".damaged"))) return false;
    await mkdir(fresh, { mode: ownerFolder });
    await withDatabase(fresh, (database) => copyAll(blobs, database));
    // Records in the log go to a table when a database is opened; there, damage to a record stays
    // with that record.
    await withDatabase(fresh, () => Promise.resolve());
    return true;
  } catch {
    // A full disk, or a damaged table: the database stays as it is. The next opening deletes what
    // is left of the copy.
    await rm(fresh, { recursive: true, force: true }).catch(() => {});
    return false;
  }
}

async function copyAll(from: Pick<BlobStore, "list">, to: CopiedDatabase): Promise<void> {
  let changes: BlobChange[] = [];
  let bytes = 0;
  for await (const { key, value } of from.list(everything)) {
    changes.push({ type: "put", key, value });
    bytes += key.length + value.length;
    if (bytes < maxBatchBytes) continue;
    await to.batch(changes, { sync: true });
    [changes, bytes] = [[], 0];
  }
  if (changes.length > 0) await to.batch(changes, { sync: true });
}

/** When both are closed. */
export async function changeToCopy(directory: string): Promise<void> {
  const { current, fresh, old } = placesIn(directory);
  await rename(current, old);
  await rename(fresh, current);
  const folder = await open(directory, "r");
  await folder.sync();
  await folder.close();
  await rm(old, { recursive: true });
}

async function withDatabase(
  location: string,
  act: (database: CopiedDatabase) => Promise<void>,
): Promise<void> {
  // Ciphertext cannot be compressed, so trying would only cost time.
  const database: CopiedDatabase = new ClassicLevel(location, {
    ...bytesToBytes,
    compression: false,
  });
  await database.open();
  try {
    await act(database);
  } finally {
    await database.close();
  }
}

/**
 * Whatever else keeps us from looking must not be taken for "no": what is in the way gets deleted.
 */
async function exists(path: string): Promise<boolean> {
  try {
    await readdir(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}
