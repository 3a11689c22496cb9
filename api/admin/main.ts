/**
 * Administration from the command line, beside a running API or without one:
 * `set-plan <email> <plan>`, `set-limit <plan> <messages|unlimited>`, `rotate-jwt-key`.
 */
import { ConfigError } from "../../server/mod.ts";
import { configFromEnvironment } from "../config.ts";
import { runAdmin } from "./commands.ts";

try {
  console.log(await runAdmin(Deno.args, configFromEnvironment()));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exit(error instanceof ConfigError ? 1 : 2);
}
