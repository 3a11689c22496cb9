/**
 * The entry point of the bundle that Node runs: the folder to work in is its argument, the results
 * are its output.
 */
import process from "node:process";
import { runSuites } from "./suites_directory.ts";

process.stdout.write(JSON.stringify(await runSuites(process.argv[2] ?? "")));
