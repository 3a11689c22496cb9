/** The session suite in Node: its target is the argument, in JSON, and the results are its output. */
import process from "node:process";
import { platform } from "../../sdk/platform/node.ts";
import { runTests } from "../runtime/suite.ts";
import { createSessionTests } from "./session_suite.ts";

process.stdout.write(JSON.stringify(await runTests(createSessionTests(platform, JSON.parse(process.argv[2] ?? "")))));
