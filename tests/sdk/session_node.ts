/** The session suite in Node: its target is the argument, in JSON, then how many of the tests; the results are its output. */
import process from "node:process";
import { platform } from "../../sdk/platform/node.ts";
import { runTests } from "../support/runtime/suite.ts";
import { createSessionTests } from "./session_suite.ts";

const [target = "", count] = process.argv.slice(2);
const tests = createSessionTests(platform, JSON.parse(target)).slice(
  0,
  count === undefined ? undefined : Number(count),
);
// A test that failed may have left a session behind, which would go on trying.
process.stdout.write(JSON.stringify(await runTests(tests)), () => process.exit());
