/**
 * Runs the relay: environment → configuration → service. SIGTERM or SIGINT drains it and exits 0, a second one ends it at
 * once; SIGHUP looks for another certificate. When the disk fails it exits 1: what was accepted is safe, a new process reads it.
 */
import { runUntil, untilAskedToStop } from "../server/mod.ts";
import { configFromEnvironment } from "./config.ts";
import { startRelay } from "./start_relay.ts";

const asked = untilAskedToStop(() => Deno.exit(1));
const code = await runUntil(asked, async () => {
  const relay = await startRelay(configFromEnvironment(), { writeLog: (line) => console.log(line) });
  Deno.addSignalListener("SIGHUP", relay.reloadCertificate);
  return relay;
});
Deno.exit(code);
