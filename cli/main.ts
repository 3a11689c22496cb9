#!/usr/bin/env node
/** The program `static`, under Node and Deno alike. */
import { exit, openHost } from "./platform/host.ts";
import { run } from "./run.ts";

const host = openHost();
exit(await run(host.arguments, host));
