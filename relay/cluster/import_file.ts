/**
 * Moves what one relay has kept in its file to relays that share a log: the file becomes the first
 * copy of the fold, before the log's first entry. So nothing is translated, and every relay that
 * begins has exactly what the file had.
 */
import { EngineError, openReplicaStore, openSqliteEngine } from "../engine/mod.ts";
import { forgetLog } from "./replica/backup_file.ts";
import { LogCopies } from "./log/log_copies.ts";
import { type NodesOptions, openNodes } from "./nodes/nodes.ts";
import { logNames, SharedLog } from "./log/shared_log.ts";

export interface ImportOptions extends Omit<NodesOptions, "name"> {
  readonly prefix: string;
  readonly replicas: number;
  /** The relay's file. It stays as it is. */
  readonly path: string;
}

export interface ImportResult {
  readonly bytes: number;
}

/** Throws an `Error` that says why not. The relay of the file must be stopped. */
export async function importFile(options: ImportOptions): Promise<ImportResult> {
  const { path } = options;
  await Deno.stat(path).catch((cause) => {
    throw new Error(`Cannot import ${path}: there is no such file`, { cause });
  });
  const folder = await Deno.makeTempDir({ prefix: "static-import-" });
  try {
    const copy = `${folder}/copy.sqlite`;
    await copyFile(path, copy);
    return await importCopy(copy, options);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function importCopy(copy: string, options: ImportOptions): Promise<ImportResult> {
  const { prefix, replicas, path } = options;
  const nodes = await openNodes({ ...options, name: "static import" });
  try {
    const copies = new LogCopies({ nodes, prefix, replicas });
    await copies.create();
    const log = new SharedLog({
      nodes,
      ...logNames(prefix),
      replicas,
      storage: "file",
      onEntry: () => {},
      onHole: () => {},
    });
    await log.create();
    if ((await log.end()).last > 0 || await copies.newest() !== undefined) {
      throw new Error(
        `Cannot import ${path}: the cluster "${prefix}" has entries already. Choose another STATIC_RELAY_CLUSTER`,
      );
    }
    await copies.save(copy, 0);
    const newest = await copies.newest();
    if (newest === undefined) throw new EngineError("unavailable", "The copy cannot be read back");
    // Throws unless what the nodes have is what the file had.
    await copies.load(newest, `${copy}.check`);
    return { bytes: (await Deno.stat(copy)).size };
  } finally {
    await nodes.close();
  }
}

/** In this relay's format, and without leases: they belong to a relay that will not come back. */
async function copyFile(path: string, to: string): Promise<void> {
  const engine = await openSqliteEngine({ path });
  try {
    const leases = await engine.leases.list();
    if (leases.length > 0) {
      const what = `${leases.length} lease(s) of quota were not returned`;
      throw new Error(
        `Cannot import ${path}: ${what}. Start its relay once more and stop it while the API is up`,
      );
    }
  } finally {
    await engine.close();
  }
  // Closed, the file has everything: no relay has it open, or this one could not have had.
  await Deno.copyFile(path, to);
  // A file that was itself a copy of a log says how far it had read; this log has nothing yet.
  const store = await openReplicaStore({ path: to });
  forgetLog(store.database);
  await store.engine.close();
}
