/** Rights to access a channel. Everybody else is told that it does not exist. */
import type { AgentId, ChannelId } from "../../../proto/mod.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { channelNotFound, Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "./request_handler.ts";

/** The channel, for somebody who may act in it now. */
export async function openAsMember(
  { core, agent }: AgentAsker,
  channelId: ChannelId,
): Promise<LoadedChannel> {
  const opened = core.channels.open(channelId);
  const channel = opened instanceof Promise ? await opened : opened;
  if (channel?.state.isActive(agent.agentId)) return channel;
  // A no is final for the agent, and another relay may have let it in: it is told by one that knows
  // everything before it.
  await core.deps.cluster?.catchUp();
  const again = await core.channels.open(channelId);
  if (again?.state.isActive(agent.agentId)) return again;
  if (
    again?.state.closed === undefined &&
    again?.state.members.get(agent.agentId)?.leaving?.reason === "lapsed"
  ) {
    throw new Refusal(
      "membership_lapsed",
      "This agent was absent for too long; ask to rejoin the channel",
    );
  }
  throw channelNotFound();
}

/** A request of an epoch that is not known here may be of one that another relay has begun. */
export async function reachEpoch(
  core: CoreParts,
  { state }: LoadedChannel,
  epoch: number,
): Promise<void> {
  if (epoch > state.epoch) await core.deps.cluster?.catchUp();
}

/**
 * The channel, for somebody who may begin it anew if it owns it: a member, or an owner that has
 * lapsed.
 */
export async function openAsFounder(
  asker: AgentAsker,
  channelId: ChannelId,
): Promise<LoadedChannel> {
  const opened = asker.core.channels.open(channelId);
  const channel = opened instanceof Promise ? await opened : opened;
  const { agentId } = asker.agent;
  return channel?.state.isLapsedOwner(agentId) ? channel : await openAsMember(asker, channelId);
}

/** Throws `Refusal` for an agent that is not an owner, or no longer a member. */
export function checkOwner({ state }: LoadedChannel, agentId: AgentId): void {
  if (!state.isActive(agentId) && !state.isLapsedOwner(agentId)) throw channelNotFound();
  if (!state.owners.has(agentId)) {
    throw new Refusal("not_allowed", "Only owners begin a new generation of a channel");
  }
}

/**
 * Returns the channel for an agent that has something to read in it: a member, a former member that
 * does not know it yet, or an owner that has lapsed.
 */
export async function openAsReader(
  asker: AgentAsker,
  channelId: ChannelId,
): Promise<LoadedChannel> {
  const opened = asker.core.channels.open(channelId);
  const channel = opened instanceof Promise ? await opened : opened;
  const { agentId } = asker.agent;
  if (channel !== undefined && (channel.state.isActive(agentId) || mayRead(channel, agentId))) {
    return channel;
  }
  await asker.core.deps.cluster?.catchUp();
  const again = await asker.core.channels.open(channelId);
  return again !== undefined && mayRead(again, agentId)
    ? again
    : await openAsMember(asker, channelId);
}

function mayRead({ state }: LoadedChannel, agentId: AgentId): boolean {
  return state.former.has(agentId) || state.isLapsedOwner(agentId) ||
    (state.closed !== undefined && state.members.has(agentId));
}
