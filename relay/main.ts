/**
 * Runs the relay: environment → configuration → service. SIGTERM or SIGINT drains it and exits 0, a second one ends it at
 * once; SIGHUP looks for another certificate.
 */
import { ConfigError, configFromEnvironment } from "./config.ts";
import { EngineError } from "./engine/mod.ts";
import { PortTaken } from "./operations/ports.ts";
import { startRelay } from "./service.ts";

try {
  const relay = await startRelay(configFromEnvironment(), { writeLog: (line) => console.log(line) });
  Deno.addSignalListener("SIGHUP", relay.reloadCertificate);
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  let signals = 0;
  const stop = (): void => {
    if (++signals > 1) Deno.exit(1);
    resolve();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, stop);
  await asked;
  await relay.close();
  Deno.exit(0);
} catch (error) {
  const explained = error instanceof ConfigError || error instanceof PortTaken || error instanceof EngineError;
  console.error(explained ? error.message : error);
  Deno.exit(1);
}
