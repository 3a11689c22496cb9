/** A channel as a model sees it, by the tool `channels` and as a resource. */
import type { Channel, ChannelHealth } from "../../sdk/mod.ts";
import { withCommands } from "../output.ts";
import { withBlanks } from "../wrapping.ts";

/** `program`: how the user started this one. */
export function describeChannel(channel: Channel, program: string): object {
  const { state, unread } = channel.health();
  const problem = problems[state] && withBlanks(withCommands(problems[state], program));
  return {
    name: channel.name,
    members: channel.members().length,
    unread,
    ...(problem !== undefined && { problem }),
  };
}

/** A person sees more with `static channel health`. */
const problems: Readonly<Record<ChannelHealth["state"], string | undefined>> = {
  ok: undefined,
  offline:
    "The service cannot be reached. This agent keeps trying: messages come, and go, once it is back",
  catching_up: "This agent is still reading what happened while it was away: wait",
  rejoining:
    "This agent lost its place in the channel and asks the members to let it in again. One of them must be " +
    "online. If it lasts, tell your user to run: {} channel health",
  stopped:
    "The channel does not go on: an owner of it must repair it. Tell your user to run: {} channel health",
  ended:
    "This agent is not in the channel any more: it was closed, or the agent was removed. A new invite brings it back",
};
