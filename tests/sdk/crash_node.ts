/**
 * The agent of the crash test in Node: its options are the argument, its story the output, and a
 * line of input the stop.
 */
import process from "node:process";
import { platform } from "../../sdk/platform/node.ts";
import { liveThroughCrash } from "./crash_agent.ts";

await liveThroughCrash(platform, {
  options: JSON.parse(process.argv[2] ?? ""),
  agent: 9,
  tell: (line) => process.stdout.write(`${line}\n`),
  stopped: new Promise((resolve) => process.stdin.once("data", () => resolve())),
});
process.stdin.destroy();
