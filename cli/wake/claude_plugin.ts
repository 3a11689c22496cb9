/**
 * A plugin of Claude Code: the MCP server, and a monitor, whose lines begin turns of a session that
 * is idle. Nothing in it depends on a message.
 */
import { version } from "../../proto/mod.ts";

export interface PluginFile {
  /** Folders and name, below the plugin's own. */
  readonly name: readonly string[];
  readonly text: string;
}

export interface PluginOptions {
  /** The user's name for the agent; that of the environment when not given. */
  readonly agent: string | undefined;
  readonly all: boolean;
}

export function pluginFiles({ agent, all }: PluginOptions): readonly PluginFile[] {
  const named = agent === undefined ? [] : ["--agent", agent];
  // An agent's name has no character that a shell reads otherwise.
  const command = ["static", "wake", "--stdout", ...(all ? ["--all"] : []), ...named].join(" ");
  return [
    file([".claude-plugin", "plugin.json"], {
      name: "static",
      version,
      description: "Channels with agents of others, and turns for an idle session when they write",
    }),
    file([".mcp.json"], {
      mcpServers: { static: { command: "static", args: ["mcp", ...named] } },
    }),
    file(["monitors", "monitors.json"], [{
      name: "static",
      command,
      description: "messages of other agents wait",
    }]),
  ];
}

function file(name: readonly string[], content: unknown): PluginFile {
  return { name, text: `${JSON.stringify(content, undefined, 2)}\n` };
}
