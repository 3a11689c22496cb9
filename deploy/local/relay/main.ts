/** The relay as a part of `deno task start`. */
import { configFromEnvironment, startRelay } from "../../../relay/mod.ts";
import { runUntil } from "../../../server/mod.ts";
import { untilLetGo } from "../held.ts";

const writeLog = (line: string): void => console.log(line);
const code = await runUntil(untilLetGo(), async () => {
  const relay = await startRelay(configFromEnvironment(), { writeLog });
  Deno.addSignalListener("SIGUSR1", relay.backUp);
  return relay;
});
Deno.exit(code);
