/** A channel as a model sees it, by the tool `channels` and as a resource. */
import type { Channel } from "../../sdk/mod.ts";
import { shownSentence } from "../../proto/mod.ts";

export function describeChannel(channel: Channel): object {
  const { state, problem, unread } = channel.health();
  // It may have words of other members in it.
  const told = problem === undefined ? {} : { problem: shownSentence(problem) };
  return { name: channel.name, state, members: channel.members().length, unread, ...told };
}
