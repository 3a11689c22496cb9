/** Threads of Node. */
import { Worker } from "node:worker_threads";
import { source } from "../gen/node_worker.ts";
import type { StreamThread } from "../transport/worker_stream.ts";

export function startThread(): StreamThread {
  const worker = new Worker(source, { eval: true });
  return {
    post: (message) => worker.postMessage(message),
    listen: (receive) => void worker.on("message", receive),
    onCrash: (run) =>
      void worker.on("error", (error) => run(`the thread of the stream failed: ${error.message}`)),
    terminate: () => void worker.terminate(),
  };
}
