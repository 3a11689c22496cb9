/** A copy of the fold as a file that one relay can be started on in place of its own. */
import { copyKey, openReplicaStore } from "../../engine/mod.ts";

/** A backup is kept as long as the embedded engine's: for ever. */
const keptMs = 100 * 365 * 24 * 60 * 60 * 1000;

export interface BackupOptions {
  /** Writes everything at one position to a file that is there and empty. */
  readonly copyTo: (path: string) => Promise<unknown>;
  readonly timeMs: number;
}

/** Readable by its owner only. An earlier backup stays until this one is whole. */
export async function writeBackup(path: string, { copyTo, timeMs }: BackupOptions): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await removeIfThere(unfinished);
  (await Deno.open(unfinished, { write: true, createNew: true, mode: 0o600 })).close();
  await copyTo(unfinished);
  await asFileOfOne(unfinished, timeMs);
  await Deno.rename(unfinished, path);
}

/**
 * Without what only a copy of a log has, and with the mark by which a relay knows that it was put
 * back.
 */
async function asFileOfOne(path: string, timeMs: number): Promise<void> {
  const { engine, database } = await openReplicaStore({ path });
  try {
    forgetLog(database);
    const value = new TextEncoder().encode(String(timeMs));
    await engine.records.put(copyKey, { value, expiresAtMs: timeMs + keptMs }, 0);
  } finally {
    await engine.close();
  }
}

/** The file says no more how far it has read a log, nor which sessions there are. */
export function forgetLog(
  database: Awaited<ReturnType<typeof openReplicaStore>>["database"],
): void {
  for (const table of ["replica", "session"]) {
    database.prepare(`DROP TABLE IF EXISTS ${table}`).run();
  }
}

async function removeIfThere(path: string): Promise<void> {
  await Deno.remove(path).catch((error: unknown) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}
