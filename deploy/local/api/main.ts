/** The HTTP API as a part of `deno task start`. */
import { configFromEnvironment, PortTaken, startApi, StartFailed } from "../../../api/mod.ts";
import { untilLetGo } from "../held.ts";

try {
  const letGo = untilLetGo();
  const api = await startApi(configFromEnvironment(), { writeLog: (line) => console.log(line) });
  await letGo;
  await api.close();
  Deno.exit(0);
} catch (error) {
  console.error(error instanceof PortTaken || error instanceof StartFailed ? error.message : error);
  Deno.exit(1);
}
