/**
 * The command line of the protocol's inspector: `inspect.ts COMMAND… --method NAME`. Its version 2
 * comes with a web page, whose builder cannot be installed everywhere; this is the last one that is
 * a package of its own.
 */
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

// The inspector looks for its own version beside the folder in which it runs.
process.chdir(
  dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector-cli/build/index.js"))),
);
await import("@modelcontextprotocol/inspector-cli/build/index.js");
