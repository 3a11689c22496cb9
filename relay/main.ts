/**
 * Runs the relay: environment → configuration → service. SIGTERM or SIGINT drains it and exits 0, a
 * second one ends it at once; SIGHUP looks for another certificate, SIGUSR1 makes a backup. When
 * the disk or a port fails it exits 1: what was accepted is safe, a new process reads it.
 */
import { guardProcess, openLogOutput, runUntil, untilAskedToStop } from "../server/mod.ts";
import { configFromEnvironment } from "./config.ts";
import { startRelay } from "./start_relay.ts";

const output = openLogOutput();
const endAtOnce = (): void => {
  output.flush();
  Deno.exit(1);
};
const unownedSocketErrors = guardProcess({ writeLog: output.write, end: endAtOnce });
const asked = untilAskedToStop(endAtOnce);
const code = await runUntil(asked, async () => {
  const starting = startRelay(configFromEnvironment(), {
    writeLog: output.write,
    logState: output.state,
    unownedSocketErrors,
  });
  // A signal that comes a moment before the relay is up would end the process; it is answered when
  // the relay is up.
  Deno.addSignalListener(
    "SIGHUP",
    () => void starting.then((relay) => relay.reloadCertificate(), () => {}),
  );
  Deno.addSignalListener("SIGUSR1", () => void starting.then((relay) => relay.backUp(), () => {}));
  return await starting;
});
await output.close();
Deno.exit(code);
