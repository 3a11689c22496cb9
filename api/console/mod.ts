/** The console as the API serves it. `page/` runs in browsers; nothing here imports it, its bundles are in `gen/`. */
export { type Body, type ConsoleFile, type ConsoleFiles, createConsoleFiles, createFile } from "./files.ts";
export { consoleHeaders, consolePolicy, renderShell } from "./shell.ts";
