/** The relay as a part of `deno task start`. It is started beside the API, and told where that is once it is up. */
import { configFromEnvironment, startRelay } from "../../../relay/mod.ts";
import { runUntil } from "../../../server/mod.ts";
import { readVariables, untilLetGo } from "../held.ts";

const input = Deno.stdin.readable.getReader();
const told = await readVariables(input);
if (told === undefined) Deno.exit(0);
for (const [name, value] of Object.entries(told)) Deno.env.set(name, value);
const writeLog = (line: string): void => console.log(line);
const code = await runUntil(untilLetGo(input), async () => {
  const relay = await startRelay(configFromEnvironment(), { writeLog });
  Deno.addSignalListener("SIGUSR1", relay.backUp);
  return relay;
});
Deno.exit(code);
