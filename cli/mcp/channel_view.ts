/** A channel as a model sees it, by the tool `channels` and as a resource. */
import type { Channel } from "../../sdk/mod.ts";

export function describeChannel(channel: Channel): object {
  const { state, problem, unread } = channel.health();
  return { name: channel.name, state, members: channel.members().length, unread, ...(problem && { problem }) };
}
