/** The thread of a stream in Deno; bundled into `sdk/gen/`. */
import { quic } from "./deno_quic.ts";
import { grpc } from "./grpc.ts";
import { serveInWebWorker } from "./web_worker.ts";

serveInWebWorker([quic, grpc]);
