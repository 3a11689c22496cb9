/** Runs the HTTP API: environment → configuration → API, until a signal asks it to stop. */
import { runUntil, untilAskedToStop } from "../server/mod.ts";
import { createBatchedOutput } from "./batched_output.ts";
import { configFromEnvironment } from "./config.ts";
import { startApi } from "./start_api.ts";

const logBatchMs = 50;

const output = createBatchedOutput({ writeSync: (bytes) => Deno.stdout.writeSync(bytes), intervalMs: logBatchMs });
const asked = untilAskedToStop(() => Deno.exit(1));
const code = await runUntil(asked, () => startApi(configFromEnvironment(), { writeLog: output.write }));
output.flush();
Deno.exit(code);
