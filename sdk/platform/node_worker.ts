/** The thread of a stream in Node; bundled into `sdk/gen/`. */
import process from "node:process";
import { parentPort } from "node:worker_threads";
import { serveStream } from "../transport/stream_worker.ts";
import { grpc } from "./grpc.ts";
import { after, nowMs, randomBytes } from "./timers.ts";

serveStream({
  post: (message) => parentPort?.postMessage(message),
  listen: (receive) => void parentPort?.on("message", receive),
}, { connectors: [grpc], nowMs, after, randomBytes, exit: () => process.exit() });
