/** A channel as a model sees it, by the tool `channels` and as a resource. */
import type { Channel } from "../../sdk/mod.ts";
import { seenText } from "./screening.ts";

export function describeChannel(channel: Channel): object {
  const { state, problem, unread } = channel.health();
  // It may have words of other members in it.
  const shown = problem === undefined ? {} : { problem: seenText(problem).text };
  return { name: channel.name, state, members: channel.members().length, unread, ...shown };
}
