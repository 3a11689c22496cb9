/** The relay as a part of `deno task start`. */
import { EngineError } from "../../../relay/engine/mod.ts";
import { ConfigError, configFromEnvironment, PortTaken, startRelay } from "../../../relay/mod.ts";
import { untilLetGo } from "../held.ts";

try {
  const letGo = untilLetGo();
  const relay = await startRelay(configFromEnvironment(), { writeLog: (line) => console.log(line) });
  const failure = await Promise.race([letGo, relay.failed]);
  if (failure instanceof EngineError) throw failure;
  await relay.close();
  Deno.exit(0);
} catch (error) {
  const explained = error instanceof ConfigError || error instanceof PortTaken || error instanceof EngineError;
  console.error(explained ? error.message : error);
  Deno.exit(1);
}
