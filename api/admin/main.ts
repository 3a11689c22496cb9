/** `deno task admin`: see `commands.ts`. */
import { shownLines } from "../../proto/mod.ts";
import { ConfigError } from "../../server/mod.ts";
import { configFromEnvironment } from "../config.ts";
import { runAdmin } from "./run_admin.ts";

try {
  console.log(shownLines(await runAdmin(Deno.args, configFromEnvironment())));
} catch (error) {
  console.error(error instanceof Error ? shownLines(error.message) : error);
  Deno.exit(error instanceof ConfigError ? 1 : 2);
}
