/** Confirms files for `sync_handle.ts`: gets a path, answers nothing or an error. Each file stays open until the worker ends. */
import type { SyncAnswer } from "./sync_handle.ts";

/** The worker's side of the channel, typed here because the project is checked with the main thread's library. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<string>) => void) | null;
  postMessage(answer: SyncAnswer): void;
}

const scope = globalThis as unknown as WorkerScope; // cast: this module only ever runs in a worker
const files = new Map<string, Deno.FsFile>();

scope.onmessage = ({ data: path }) => {
  try {
    const file = files.get(path) ?? Deno.openSync(path, { read: true, write: true });
    files.set(path, file);
    file.syncDataSync();
    scope.postMessage({});
  } catch (error) {
    scope.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};
