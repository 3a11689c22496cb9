/**
 * The console as the API serves it. `page/` runs in browsers; nothing here imports it, `deno task
 * build` bundles it.
 */
export {
  answerFile,
  type Body,
  type ConsoleFile,
  type ConsoleFiles,
  createConsoleFiles,
  createOperatorFiles,
  type FileAnswer,
  type FileQuestion,
} from "./files.ts";
export { text as icon } from "./icon.ts";
export { consoleHeaders, consolePolicy, createShell, type Shell } from "./shell.ts";
