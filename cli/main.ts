#!/usr/bin/env node
/** The program `static`, under Node and Deno alike. What is asked for most often loads least: the version needs nothing else. */
import process from "node:process";
import { version } from "../proto/version.ts";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`${version}\n`);
} else {
  const { exit, onUnexpected, openHost } = await import("./platform/host.ts");
  const { reportUnexpected, run } = await import("./run.ts");
  const host = openHost();
  onUnexpected((error) => void reportUnexpected(error, host).then(exit));
  exit(await run(host.arguments, host));
}
