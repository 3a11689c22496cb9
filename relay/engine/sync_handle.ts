/**
 * Having the disk confirm a file without blocking the event loop. There are two ways, because of a trap: POSIX gives up every
 * lock that a process has on a file when it closes any handle of that file. The runtime's asynchronous sync closes a copy of
 * the handle each time. That is harmless for the log, on which SQLite holds no lock; the database file, on which it does, is
 * confirmed by a worker that keeps one handle for as long as the database is open.
 */

export interface SyncHandle {
  /** What was written before the call survives a loss of power when it resolves. One call at a time. */
  syncData(): Promise<void>;
  close(): void;
}

export type OpenForSync = typeof openForSync;

/** What a worker answers. */
export interface SyncAnswer {
  readonly error?: string;
}

export async function openForSync(path: string, kind: "log" | "locked"): Promise<SyncHandle> {
  return kind === "log" ? await Deno.open(path, { read: true, write: true }) : new LockedFile(path);
}

/** The worker starts with the first sync: a database that never outgrows its log needs none. */
class LockedFile implements SyncHandle {
  readonly #path: string;
  #worker: Worker | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  syncData(): Promise<void> {
    const worker = this.#worker ??= new Worker(new URL("./sync_worker.ts", import.meta.url), { type: "module" });
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data: { error } }: MessageEvent<SyncAnswer>) =>
        error === undefined ? resolve() : reject(new Error(error));
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
      worker.postMessage(this.#path);
    });
  }

  /** After the database was closed: the worker's handle goes with it. */
  close(): void {
    this.#worker?.terminate();
  }
}
