/**
 * The relay as a part of `deno task start`. It is started beside the API, and told where that is
 * once it is up.
 */
import { configFromEnvironment, startRelay } from "../../../relay/mod.ts";
import { guardProcess, runUntil } from "../../../server/mod.ts";
import { readVariables, untilLetGo } from "../parent_pipe.ts";

const writeLog = (line: string): void => console.log(line);
const unownedSocketErrors = guardProcess({ writeLog, end: () => Deno.exit(1) });
const input = Deno.stdin.readable.getReader();
const told = await readVariables(input);
if (told === undefined) Deno.exit(0);
for (const [name, value] of Object.entries(told)) Deno.env.set(name, value);
const code = await runUntil(untilLetGo(input), async () => {
  const starting = startRelay(configFromEnvironment(), { writeLog, unownedSocketErrors });
  // A signal that comes a moment before the relay is up would end the process; it is answered when
  // the relay is up.
  Deno.addSignalListener("SIGUSR1", () => void starting.then((relay) => relay.backUp(), () => {}));
  return await starting;
});
Deno.exit(code);
