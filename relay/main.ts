/**
 * Runs the relay: environment → configuration → service. SIGTERM or SIGINT drains it and exits 0, a second one ends it at
 * once; SIGHUP looks for another certificate. When the disk fails it exits 1: what was accepted is safe, a new process reads it.
 */
import { ConfigError, configFromEnvironment } from "./config.ts";
import { EngineError } from "./engine/mod.ts";
import { PortTaken, untilAskedToStop } from "../server/mod.ts";
import { startRelay } from "./start_relay.ts";

try {
  // Asked for before anything runs, so that no moment is left in which a signal would simply end the process.
  const asked = untilAskedToStop(() => Deno.exit(1));
  const relay = await startRelay(configFromEnvironment(), { writeLog: (line) => console.log(line) });
  Deno.addSignalListener("SIGHUP", relay.reloadCertificate);
  const failure = await Promise.race([asked, relay.failed]);
  // Nobody can be served any more, so nothing is drained: whoever watches this process starts another.
  if (failure instanceof EngineError) throw failure;
  await relay.close();
  Deno.exit(0);
} catch (error) {
  const explained = error instanceof ConfigError || error instanceof PortTaken || error instanceof EngineError;
  console.error(explained ? error.message : error);
  Deno.exit(1);
}
