/** The entry point of the bundle of long suites that Node runs. */
import process from "node:process";
import { createNodeMlKem } from "../../sdk/platform/node_key_agreement.ts";
import { runLongSuites } from "./long_suites.ts";

process.stdout.write(JSON.stringify(await runLongSuites(createNodeMlKem())));
