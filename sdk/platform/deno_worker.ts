/** The thread of a stream in Deno; bundled into `sdk/gen/`. */
import { cells } from "./deno_http.ts";
import { quic } from "./deno_quic.ts";
import { serveInWebWorker } from "./web_worker.ts";

serveInWebWorker([quic, cells]);
