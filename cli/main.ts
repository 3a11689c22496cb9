#!/usr/bin/env node
/**
 * The program `static`, under Node and Deno alike. The most frequent commands load least: the
 * version needs nothing else.
 */
import process from "node:process";
import { version } from "../proto/base/version.ts";

/**
 * Not literally in `import()`: Deno would read everything behind them before the version is told.
 */
const [hostModule, runModule] = ["./platform/host.ts", "./run.ts"];

if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`${version}\n`);
} else {
  const { exit, onUnexpected, openHost }: typeof import("./platform/host.ts") = await import(
    hostModule
  );
  const { reportUnexpected, run }: typeof import("./run.ts") = await import(runModule);
  const host = openHost();
  onUnexpected((error) => void reportUnexpected(error, host).then(exit));
  exit(await run(host.arguments, host));
}
