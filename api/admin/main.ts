/** `deno task admin`: see `commands.ts`. */
import { ConfigError } from "../../server/mod.ts";
import { configFromEnvironment } from "../config.ts";
import { runAdmin } from "./run_admin.ts";

try {
  console.log(await runAdmin(Deno.args, configFromEnvironment()));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exit(error instanceof ConfigError ? 1 : 2);
}
