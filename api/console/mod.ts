/** The console as the API serves it. `page/` runs in browsers; nothing here imports it, its bundles are in `gen/`. */
export {
  answerFile,
  type Body,
  type ConsoleFile,
  type ConsoleFiles,
  createConsoleFiles,
  createFile,
  createOperatorFiles,
} from "./files.ts";
export { text as icon } from "./icon.ts";
export { consoleHeaders, consolePolicy, renderShell } from "./shell.ts";
