/** Runs the HTTP API: environment → configuration → API, until a signal asks it to stop. */
import { ConfigError, configFromEnvironment } from "./config.ts";
import { createBatchedOutput } from "./batched_output.ts";
import { PortTaken } from "./ports.ts";
import { startApi } from "./start_api.ts";
import { StartFailed } from "../server/mod.ts";

const logBatchMs = 50;

const output = createBatchedOutput({ writeSync: (bytes) => Deno.stdout.writeSync(bytes), intervalMs: logBatchMs });
try {
  // Asked for before anything runs, so that no moment is left in which a signal would simply end the process.
  const asked = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, resolve);
  });
  const api = await startApi(configFromEnvironment(), { writeLog: output.write });
  output.flush();
  await asked;
  await api.close();
  output.flush();
  Deno.exit(0);
} catch (error) {
  output.flush();
  const explained = error instanceof ConfigError || error instanceof PortTaken || error instanceof StartFailed;
  console.error(explained ? error.message : error);
  Deno.exit(1);
}
