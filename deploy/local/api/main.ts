/** The HTTP API as a part of `deno task start`. */
import { configFromEnvironment, startApi } from "../../../api/mod.ts";
import { createLog, describeError, reportUncaught, runUntil } from "../../../server/mod.ts";
import { untilLetGo } from "../held.ts";

const writeLog = (line: string): void => console.log(line);
const log = createLog({ write: writeLog, nowMs: Date.now });
reportUncaught((error) => log("error", "fault", { where: "uncaught", error: describeError(error) }));
Deno.exit(await runUntil(untilLetGo(), () => startApi(configFromEnvironment(), { writeLog })));
