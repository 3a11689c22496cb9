/**
 * A plugin of Claude Code: the MCP server, a monitor, whose lines begin turns of a session that is
 * idle, and a hook for sessions that start no monitors. Nothing in it depends on a message.
 */
import { version } from "../../proto/mod.ts";
import { sentence } from "./sentence.ts";

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
  const rest = [...(all ? ["--all"] : []), ...named];
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
      command: ["static", "wake", "--stdout", ...rest].join(" "),
      description: "messages of other agents wait",
    }]),
    file(["hooks", "hooks.json"], {
      hooks: {
        Stop: [{
          hooks: [{
            type: "command",
            command: hookCommand(["static", "wake", "hook", ...rest].join(" ")),
            // In the background in every kind of session: one that ends does not wait for it.
            async: true,
            asyncRewake: true,
            timeout: hookSeconds,
          }],
        }],
      },
    }),
  ];
}

/** Then Claude Code ends it, until the next turn has ended. */
const hookSeconds = 7 * 24 * 3600;

/**
 * A hook begins a turn by its exit code 2, with the text that it prints. So nothing that the
 * program prints goes there, and no failure of it ends with 2: the shell says the sentence, and
 * only for 0.
 */
function hookCommand(program: string): string {
  return `${unlessSingle} ${program} >/dev/null 2>&1 </dev/null && echo '${sentence}' >&2 && exit 2; exit 0`;
}

/**
 * A session of one question (`claude -p`) would wait half a minute for the hook before it ends. It
 * cannot be told from one with streamed input but by the words that it was started with.
 */
const unlessSingle = `case " $(ps -o args= -p "$CLAUDE_PID" 2>/dev/null) " in ` +
  `*input-format?stream-json*) ;; *' -p '*|*' --print '*) exit 0 ;; esac;`;

function file(name: readonly string[], content: unknown): PluginFile {
  return { name, text: `${JSON.stringify(content, undefined, 2)}\n` };
}
