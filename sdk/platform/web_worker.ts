/**
 * Threads as Deno and browsers have them: outside (`startWebWorker`) and inside
 * (`serveInWebWorker`).
 */
import type { FromWorker, ToWorker } from "../transport/worker_messages.ts";
import { serveStream } from "../transport/stream_worker.ts";
import type { Connector } from "../transport/transport.ts";
import type { StreamThread } from "../transport/worker_stream.ts";
import { after, nowMs, randomBytes } from "./timers.ts";

/** The part of a worker that is used; not every type library describes it. */
interface WebWorker {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: { readonly data: FromWorker }) => void) | null;
  onerror: ((event: { readonly message?: string; preventDefault?(): void }) => void) | null;
}

/** The global object inside a worker. */
interface WorkerScope {
  postMessage(message: FromWorker): void;
  close(): void;
  onmessage: ((event: { readonly data: ToWorker }) => void) | null;
}

/**
 * `onLoaded` runs when the worker speaks for the first time or has failed: its address is not
 * needed any more.
 */
export function startWebWorker(url: string, onLoaded: () => void = () => {}): StreamThread {
  // cast: the part of it that is described above
  const { Worker } = globalThis as unknown as {
    Worker: new (url: string, options: { type: "module" }) => WebWorker;
  };
  const worker = new Worker(url, { type: "module" });
  let loaded = false;
  return {
    post: (message) => worker.postMessage(message),
    listen: (receive) => {
      worker.onmessage = ({ data }) => {
        if (!loaded) onLoaded();
        loaded = true;
        receive(data);
      };
    },
    onCrash: (run) => {
      worker.onerror = (event) => {
        event.preventDefault?.();
        onLoaded();
        run(`the thread of the stream failed: ${event.message ?? "it could not be loaded"}`);
      };
    },
    terminate: () => worker.terminate(),
  };
}

export function serveInWebWorker(connectors: readonly Connector[]): void {
  const scope = globalThis as unknown as WorkerScope; // cast: this runs inside a worker
  serveStream({
    post: (message) => scope.postMessage(message),
    listen: (receive) => void (scope.onmessage = ({ data }) => receive(data)),
  }, { connectors, nowMs, after, randomBytes, exit: () => scope.close() });
}
