/**
 * The console as the API serves it. `page/` runs in browsers; nothing here imports it, `deno task
 * build` bundles it.
 */
export {
  answerFile,
  type ConsoleFile,
  type ConsoleFiles,
  createConsoleFiles,
  createOperatorFiles,
  type FileAnswer,
  type FileQuestion,
  type FileVariant,
} from "./files.ts";
export { text as icon } from "./icon.ts";
export { consoleHeaders, consolePolicy, type ConsoleShell, createShell } from "./shell.ts";
