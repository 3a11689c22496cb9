/**
 * Having the disk confirm a file without blocking the event loop. There are two ways, because of a
 * trap: POSIX gives up every lock that a process has on a file when it closes any handle of that
 * file. The runtime's asynchronous sync closes a copy of the handle each time. That is harmless for
 * the log, on which SQLite holds no lock; the database file, on which it does, is confirmed by a
 * worker that keeps one handle for as long as the database is open.
 */

export interface SyncHandle {
  /**
   * When it resolves, everything written before the call survives a loss of power. One call at a
   * time.
   */
  syncData(): Promise<void>;
  /**
   * Copies the database file, while nobody writes it, to a file that then survives a loss of power.
   */
  copyTo?(path: string): Promise<void>;
  close(): void;
}

export type OpenForSync = typeof openForSync;

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
    return this.#ask({ path: this.#path });
  }

  copyTo(path: string): Promise<void> {
    return this.#ask({ path: this.#path, copyTo: path });
  }

  #ask(request: FileRequest): Promise<void> {
    const worker = this.#worker ??= startWorker();
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data: { error } }: MessageEvent<SyncAnswer>) =>
        error === undefined ? resolve() : reject(new Error(error));
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
      worker.postMessage(request);
    });
  }

  /** After the database was closed: the worker's handle goes with it. */
  close(): void {
    this.#worker?.terminate();
  }
}

interface FileRequest {
  readonly path: string;
  readonly copyTo?: string;
}

interface SyncAnswer {
  readonly error?: string;
}

/**
 * The worker's side of the channel, typed here because the project is checked with the main
 * thread's library.
 */
interface WorkerScope {
  onmessage: ((event: MessageEvent<FileRequest>) => void) | null;
  postMessage(answer: SyncAnswer): void;
}

/**
 * Not from a file of its own: reading that would need a permission which the relay does without.
 */
function startWorker(): Worker {
  // limit: `diskMs` of GroupCommit tells how long it takes; nobody can go on without it
  return new Worker(`data:text/javascript,${encodeURIComponent(`(${confirmFiles})()`)}`, {
    type: "module",
  });
}

/**
 * Runs in the worker, as text, so it uses nothing from outside: gets a request, answers nothing or
 * an error.
 */
function confirmFiles(): void {
  const scope = globalThis as unknown as WorkerScope; // cast: it only ever runs in a worker
  const files = new Map<string, Deno.FsFile>();
  const copy = (file: Deno.FsFile, path: string): void => {
    using target = Deno.openSync(path, { write: true, create: true, truncate: true, mode: 0o600 });
    const piece = new Uint8Array(1024 * 1024);
    file.seekSync(0, 0);
    for (let read = file.readSync(piece); read !== null && read > 0; read = file.readSync(piece)) {
      for (let written = 0; written < read;) {
        written += target.writeSync(piece.subarray(written, read));
      }
    }
    target.syncDataSync();
  };
  scope.onmessage = ({ data: { path, copyTo } }) => {
    try {
      const file = files.get(path) ?? Deno.openSync(path, { read: true, write: true });
      files.set(path, file);
      file.syncDataSync();
      if (copyTo !== undefined) copy(file, copyTo);
      scope.postMessage({});
    } catch (error) {
      scope.postMessage({ error: error instanceof Error ? error.message : String(error) });
    }
  };
}
