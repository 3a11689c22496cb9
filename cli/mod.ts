/** The CLI as a function, for tests and for programs that embed it. */
export { globalFlags } from "./command.ts";
export { commands } from "./command_table.ts";
export { exitCodes } from "./exit_codes.ts";
export { renderReference } from "./help/reference.ts";
export { completionScript, shells } from "./help/completion.ts";
export { openHost } from "./platform/host.ts";
export type { CommandPlatform } from "./platform/platform.ts";
export { run } from "./run.ts";
