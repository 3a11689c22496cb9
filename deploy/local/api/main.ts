/** The HTTP API as a part of `deno task start`. */
import { configFromEnvironment, startApi } from "../../../api/mod.ts";
import { guardProcess, runUntil } from "../../../server/mod.ts";
import { untilLetGo } from "../parent_pipe.ts";

const writeLog = (line: string): void => console.log(line);
const unownedSocketErrors = guardProcess({ writeLog, end: () => Deno.exit(1) });
Deno.exit(
  await runUntil(
    untilLetGo(),
    () => startApi(configFromEnvironment(), { writeLog, unownedSocketErrors }),
  ),
);
