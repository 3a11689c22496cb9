/** The thread of a stream in a browser; bundled into `sdk/gen/`. */
import { cells } from "./browser_http.ts";
import { webtransport } from "./browser_webtransport.ts";
import { serveInWebWorker } from "./web_worker.ts";

serveInWebWorker([webtransport, cells]);
