/**
 * The embedded database for one machine without PostgreSQL: PGlite in a worker, its files in the
 * data directory. A lock file keeps a second process out, because PGlite itself would let it in and
 * both would destroy each other's files.
 */
import { after, makePrivateFolder, waits } from "../../server/mod.ts";
import type { DatabaseAddress } from "./database.ts";

export type EmbeddedCommand =
  | { readonly kind: "open"; readonly folder: string; readonly socket: string }
  | { readonly kind: "close" };
export type EmbeddedEvent =
  | { readonly kind: "ready" }
  | { readonly kind: "closed" }
  | { readonly kind: "failed"; readonly reason: string };

export interface EmbeddedDatabase {
  readonly address: DatabaseAddress;
  /** Resolves when its thread has died: only a new process can open it again. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/** Unix socket paths end at 107 bytes; the clear refusal here is better than the kernel's. */
const maxSocketPathBytes = 107;

/**
 * Undefined when another process has this database open; its socket is then at `embeddedAddress`.
 */
export async function openEmbedded(
  dataDir: string,
  startWorker: () => Worker = startDatabase,
): Promise<EmbeddedDatabase | undefined> {
  const address = embeddedAddress(dataDir);
  await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = await Deno.open(`${dataDir}/database.lock`, {
    create: true,
    write: true,
    mode: 0o600,
  });
  if (!await lock.tryLock(true)) {
    lock.close();
    return undefined;
  }
  const worker = startWorker();
  const failed = failureOf(worker);
  const release = (): void => {
    worker.terminate();
    lock.close();
  };
  try {
    // The system releases the lock of a process that crashed, but its socket file stays.
    await Deno.remove(address.path).catch(ignoreMissing);
    await making(`${dataDir}/database`, async (folder) => {
      await command({ worker, failed }, { kind: "open", folder, socket: address.path });
    });
    await Deno.chmod(address.path, 0o600);
  } catch (error) {
    release();
    throw error;
  }
  return {
    address,
    failed,
    close: async () => {
      try {
        await command({ worker, failed }, { kind: "close" });
      } finally {
        release();
      }
    },
  };
}

/**
 * Half a database, left by a first start that was interrupted, would never open again: it is known
 * by a mark and made anew.
 */
async function making(folder: string, open: (folder: string) => Promise<void>): Promise<void> {
  const mark = `${folder}.making`;
  if (await exists(mark)) await Deno.remove(folder, { recursive: true }).catch(ignoreMissing);
  const isNew = !await exists(folder);
  if (isNew) await Deno.writeTextFile(mark, "", { mode: 0o600 });
  // The data directory may be one that others can enter, and PGlite makes files that everybody may
  // read and write.
  await makePrivateFolder(folder);
  await open(folder);
  if (isNew) await Deno.remove(mark);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, (error) => {
    ignoreMissing(error);
    return false;
  });
}

export function embeddedAddress(dataDir: string): DatabaseAddress & { kind: "socket" } {
  const path = `${dataDir}/.s.PGSQL.5432`;
  if (new TextEncoder().encode(path).length > maxSocketPathBytes) {
    throw new Error(
      `Cannot open the embedded database: the path of STATIC_DATA_DIR is too long for a socket (${path})`,
    );
  }
  return { kind: "socket", path };
}

function startDatabase(): Worker {
  // limit: command
  return new Worker(new URL("./embedded_worker.ts", import.meta.url), { type: "module" });
}

/** The owner of its errors, for all its life. */
function failureOf(worker: Worker): Promise<Error> {
  return new Promise((resolve) => {
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(new Error(`The embedded database has failed: ${event.message}`));
    };
  });
}

interface Thread {
  readonly worker: Worker;
  readonly failed: Promise<Error>;
}

async function command({ worker, failed }: Thread, command: EmbeddedCommand): Promise<void> {
  const { ms } = command.kind === "open" ? waits.embeddedStart : waits.embeddedStop;
  const { promise: answered, resolve } = Promise.withResolvers<EmbeddedEvent>();
  const late = `its worker has not answered for ${ms / 1_000} s`;
  const cancel = after(ms, () => resolve({ kind: "failed", reason: late }));
  worker.onmessage = ({ data }: MessageEvent<EmbeddedEvent>) => resolve(data);
  worker.postMessage(command);
  const answer = await Promise.race([answered, failed]).finally(cancel);
  if (answer instanceof Error) throw answer;
  if (answer.kind === "failed") {
    throw new Error(`Cannot ${command.kind} the embedded database: ${answer.reason}`);
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
