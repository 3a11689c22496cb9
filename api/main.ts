/**
 * Runs the HTTP API: environment → configuration → API, until a signal asks it to stop. SIGHUP
 * looks for another certificate. When its listener fails it exits 1: only a new process can accept
 * again.
 */
import { guardProcess, openLogOutput, runUntil, untilAskedToStop } from "../server/mod.ts";
import { configFromEnvironment } from "./config.ts";
import { type RunningApi, startApi } from "./start_api.ts";

const output = openLogOutput();
const endAtOnce = (): void => {
  output.flush();
  Deno.exit(1);
};
const unownedSocketErrors = guardProcess({ writeLog: output.write, end: endAtOnce });
const asked = untilAskedToStop(endAtOnce);
const running: { api?: RunningApi } = {};
// From the first moment on, because otherwise it would simply end the process.
Deno.addSignalListener("SIGHUP", () => void running.api?.reloadCertificate());
const code = await runUntil(
  asked,
  async () =>
    running.api = await startApi(configFromEnvironment(), {
      writeLog: output.write,
      logState: output.state,
      unownedSocketErrors,
    }),
);
await output.close();
Deno.exit(code);
