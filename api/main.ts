/**
 * Runs the HTTP API: environment → configuration → API, until a signal asks it to stop. SIGHUP
 * looks for another certificate. When its listener fails it exits 1: only a new process can accept
 * again.
 */
import { guardProcess, runUntil, untilAskedToStop } from "../server/mod.ts";
import { createBatchedOutput } from "./batched_output.ts";
import { configFromEnvironment } from "./config.ts";
import { type RunningApi, startApi } from "./start_api.ts";

const logBatchMs = 50;

const output = createBatchedOutput({
  writeSync: (bytes) => Deno.stdout.writeSync(bytes),
  intervalMs: logBatchMs,
});
const unownedSocketErrors = guardProcess({
  writeLog: output.write,
  end: () => {
    output.flush();
    Deno.exit(1);
  },
});
const asked = untilAskedToStop(() => Deno.exit(1));
const running: { api?: RunningApi } = {};
// From the first moment on, because otherwise it would simply end the process.
Deno.addSignalListener("SIGHUP", () => void running.api?.reloadCertificate());
const code = await runUntil(
  asked,
  async () =>
    running.api = await startApi(configFromEnvironment(), {
      writeLog: output.write,
      unownedSocketErrors,
    }),
);
output.flush();
Deno.exit(code);
