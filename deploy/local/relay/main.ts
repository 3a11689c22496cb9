/** The relay as a part of `deno task start`. */
import { configFromEnvironment, startRelay } from "../../../relay/mod.ts";
import { runUntil } from "../../../server/mod.ts";
import { untilLetGo } from "../held.ts";

const writeLog = (line: string): void => console.log(line);
Deno.exit(await runUntil(untilLetGo(), () => startRelay(configFromEnvironment(), { writeLog })));
