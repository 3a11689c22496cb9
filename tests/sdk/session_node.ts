/** The session suite in Node: its targets are the argument, in JSON; the results are its output. */
import process from "node:process";
import { platform } from "../../sdk/platform/node.ts";
import { runTests } from "../support/runtime/suite.ts";
import { type CountedTarget, createSessionTests } from "./session_suite.ts";

const targets: readonly CountedTarget[] = JSON.parse(process.argv[2] ?? "");
const tests = targets.flatMap((target) =>
  createSessionTests(platform, target).slice(0, target.count)
);
// A test that failed may have left a session behind, which would go on trying.
process.stdout.write(JSON.stringify(await runTests(tests)), () => process.exit());
