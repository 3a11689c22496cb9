/** Who may ask what of a channel. Everybody else is told that there is none. */
import type { ChannelId } from "../../../proto/mod.ts";
import type { Channel } from "../channel.ts";
import { channelNotFound, Refusal } from "../refusal.ts";
import type { AgentAsker } from "../request_handler.ts";

/** The channel, for somebody who may act in it now. */
export async function openAsMember({ core, agent }: AgentAsker, channelId: ChannelId): Promise<Channel> {
  const opened = core.channels.open(channelId);
  const channel = opened instanceof Promise ? await opened : opened;
  if (channel === undefined) throw channelNotFound();
  const { state } = channel;
  if (state.isActive(agent.agentId)) return channel;
  if (state.closed === undefined && state.members.get(agent.agentId)?.leaving?.reason === "lapsed") {
    throw new Refusal("membership_lapsed", "This agent was absent for too long; ask to rejoin the channel");
  }
  throw channelNotFound();
}

/** The channel, for somebody who has something to read in it: a member, or one that does not know yet that it is none. */
export async function openAsReader(asker: AgentAsker, channelId: ChannelId): Promise<Channel> {
  const opened = asker.core.channels.open(channelId);
  const channel = opened instanceof Promise ? await opened : opened;
  const { agentId } = asker.agent;
  const reads = channel?.state.former.has(agentId) ||
    (channel?.state.closed !== undefined && channel.state.members.has(agentId));
  if (channel !== undefined && reads) return channel;
  return await openAsMember(asker, channelId);
}
