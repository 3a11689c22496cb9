/** `channel chat`: type and read in one terminal. */
import type { Channel } from "../../sdk/mod.ts";
import { afterRefusal, agentFlag, withAgent } from "../agent.ts";
import type { Command, Context } from "../command.ts";
import { usesHost } from "../agent_access.ts";
import { watchConnection } from "../channel_warnings.ts";
import { findChannel, nameArgument } from "./channel.ts";
import { printMessage } from "./channel_messages.ts";

export const chat: Command = {
  path: "channel chat",
  summary: "send and read messages in one terminal",
  details: [
    "Prints messages of other members and sends each line that you type. Ctrl-D or Ctrl-C ends it. With piped input it sends",
    "the lines and ends.",
  ],
  arguments: [nameArgument],
  flags: [
    { name: "as", value: "READER", summary: "read as a named reader, with its own position" },
    agentFlag,
  ],
  examples: [{ command: "channel chat acme/ops/deploy", what: "" }],
  run: (context) =>
    withAgent(context, async (agent, link) => {
      const { platform, output, given } = context;
      const channel = await findChannel(context, agent);
      if (platform.stdin.isTerminal) {
        await output.note(
          output.onStderr("dim", `In ${channel.name}; each line is a message, Ctrl-D ends`),
        );
      }
      await using _ = watchConnection(context, channel);
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, platform.interrupted]);
      const as = given.value("as");
      const reader = channel.envelopes({
        signal,
        ...(as !== undefined && usesHost(context) && { as }),
      });
      const showing = (async (): Promise<void> => {
        for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
          await printMessage(context, channel, next.value);
        }
      })();
      try {
        await Promise.race([type(context, channel, link), showing]);
      } finally {
        await reader.finish();
        stop.abort();
        await showing.catch(() => {});
      }
    }),
};

/** One after the other: a line that is not accepted is told before the next one is. */
async function type(context: Context, channel: Channel, link: string | undefined): Promise<void> {
  const { platform, output } = context;
  for (
    let line = await platform.stdin.readLine();
    line !== undefined;
    line = await platform.stdin.readLine()
  ) {
    if (line.trim() === "") continue;
    try {
      await channel.send(line);
    } catch (error) {
      await afterRefusal(context, error, link);
      await output.warn(`Not sent: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
