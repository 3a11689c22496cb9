#!/usr/bin/env node
/** The program `static`, under Node and Deno alike. */
import { exit, onUnexpected, openHost } from "./platform/host.ts";
import { reportUnexpected, run } from "./run.ts";

const host = openHost();
onUnexpected((error) => void reportUnexpected(error, host).then(exit));
exit(await run(host.arguments, host));
