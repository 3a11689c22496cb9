/**
 * The command line as one of many programs on an agent that a test has made: its folder is a link
 * to the agent's directory.
 */
import type { ConnectOptions } from "../../sdk/mod.ts";
import type { SharedStack } from "../support/stack.ts";

const program = new URL("../../cli/main.ts", import.meta.url).pathname;

/** How Deno runs a command. */
export type Shell = (
  words: readonly string[],
) => { readonly args: string[]; readonly env: Record<string, string> };

export async function commandLine(
  { api, account, quicUrl, grpcUrl, caFile }: SharedStack,
  folder: string,
  { dataDir, identity }: ConnectOptions,
): Promise<Shell> {
  const agent = `${folder}/command/static/agents/default`;
  await Deno.mkdir(agent, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(`${agent}/agent.json`, JSON.stringify({ identity }));
  await Deno.symlink(dataDir, `${agent}/state`);
  const env = {
    STATIC_API_URL: api.url,
    STATIC_API_KEY: account.apiKey,
    STATIC_RELAY_URL: `${quicUrl},${grpcUrl}`,
    STATIC_CA_FILE: caFile,
    XDG_DATA_HOME: `${folder}/command`,
    XDG_CONFIG_HOME: `${folder}/command`,
  };
  return (words) => ({ args: ["run", "-A", "--quiet", "--no-check", program, ...words], env });
}

/** A command for each message, which prints it as a step. */
export function showHook(channel: string, reader: string): string[] {
  const script = `read -r text; printf '{"step":"seen","text":"%s"}\\n' "$text"`;
  return ["channel", "on-message", channel, "--as", reader, "--", "sh", "-c", script];
}
