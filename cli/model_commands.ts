/** Commands for language models. */
export { mcp } from "./commands/mcp.ts";
export { dropHeld, listHeld, mcpPolicy, releaseHeld } from "./commands/mcp_policy.ts";
export { remoteToolCommands } from "./remote_tools/commands.ts";
export { wakeCommands } from "./wake/commands.ts";
