/** Making, listing, leaving and closing channels. */
import {
  type AccountId,
  type AgentId,
  binaryIdFromBytes,
  type ChannelId,
  encodeBase64url,
  encodeCreatorWelcome,
  groupIdOf,
  leaveStatement,
  parseAgentId,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { covers, sentBy } from "../session/agent.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { MemberState } from "../channel/channel_state.ts";
import { emptyBody, encodeLeaveBody } from "../channel/entry_body.ts";
import { storageBytesOf } from "../limits/plans.ts";
import { channelNotFound, Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "./request_handler.ts";
import { accountIsFull, appendInAnyEpoch, roomIn } from "./append.ts";
import { openAsMember } from "./channel_access.ts";
import { partyOf } from "../limits/shares.ts";

/** In the log, for what no agent did. */
const nobody = parseAgentId("A".repeat(22));
const channelIdBytes = 16;
/** An account with so many channels is not about to close some. */
const crowdedRetryMs = 60_000;
/**
 * Channels that are read from the engine before others have their turn: each takes about half a
 * millisecond.
 */
const readsAtOnce = 8;

export async function createChannel(
  { core, agent }: AgentAsker,
  { name, nonce }: RequestBody<"CreateChannel">,
): Promise<ReplyBody<"CreateChannel">> {
  const { engine, nowMs, randomBytes, log } = core.deps;
  const maxOpen = core.config.channelsPerAccount;
  const timeMs = nowMs();
  const channelId = binaryIdFromBytes<ChannelId>(randomBytes(channelIdBytes));
  const { account, agentId: creator } = agent;
  const tight = core.limits.storage.level !== "ok";
  const accountBytes = tight ? 0 : storageBytesOf(core.config, agent.plan);
  const outcome = await engine.createChannel({
    channelId,
    name,
    account,
    creator,
    nonce,
    timeMs,
    maxOpen,
    accountBytes,
  });
  if (outcome.kind === "name_taken") {
    throw new Refusal(
      "name_taken",
      `This account has a channel named "${name}"; close it first or choose another name`,
    );
  }
  if (outcome.kind === "too_many") {
    const retryAfterMs = crowdedRetryMs;
    throw new Refusal("rate_limited", `This account has ${maxOpen} channels; close some first`, {
      retryAfterMs,
    });
  }
  if (outcome.kind === "full") {
    core.limits.storage.refuseGrowth();
    core.relief.begin(account, { accountBytes, dropsMessages: false });
    throw accountIsFull();
  }
  const created = outcome.kind === "created" ? { channelId, name } : outcome.original;
  if (created.name !== name) {
    throw new Refusal("invalid_request", "This nonce made a channel of another name");
  }
  const { cellBytes, limits } = core.config;
  const parameters = { channelId: created.channelId, name, cellBytes, relayTimeMs: timeMs, limits };
  if (outcome.kind === "created") log({ event: "channel_created", channelId, agentId: creator });
  return {
    channelId: created.channelId,
    welcome: encodeCreatorWelcome(parameters),
    duplicate: outcome.kind === "duplicate",
  };
}

export async function listChannels(
  asker: AgentAsker,
  { after, limit }: RequestBody<"ListChannels">,
): Promise<ReplyBody<"ListChannels">> {
  const { core, agent, agent: { agentId, account } } = asker;
  const page = await core.deps.engine.listChannels({
    agentId,
    account,
    limit,
    ...(after && { after }),
  });
  const channels: ReplyBody<"ListChannels">["channels"][number][] = [];
  let read = 0;
  for (const channelId of page.channels) {
    // A page of channels that are not in memory would keep everybody else waiting.
    if (!core.channels.isLoaded(channelId) && ++read % readsAtOnce === 0) {
      await core.limits.slowTurns.take(partyOf(agent), 1);
    }
    const channel = await core.channels.open(channelId);
    if (
      channel === undefined || channel.state.closed !== undefined || !covers(asker.agent, channel)
    ) continue;
    channels.push(summarise(channel, asker));
  }
  return { channels, more: page.more };
}

function summarise(
  channel: LoadedChannel,
  { agent }: AgentAsker,
): ReplyBody<"ListChannels">["channels"][number] {
  const { state, channelId, name, createdAtMs } = channel;
  const member = state.isActive(agent.agentId);
  const consumed = member ? channel.cursor(agent.agentId) : undefined;
  return {
    channelId,
    name,
    epoch: state.epoch,
    head: channel.head,
    members: state.members.size,
    member,
    owned: channel.account === agent.account,
    createdAtMs,
    ...(consumed !== undefined && { consumed }),
    welcomePending: channel.hasWelcomeFor(agent.agentId),
  };
}

export async function listMembers(
  asker: AgentAsker,
  { channelId }: RequestBody<"ListMembers">,
): Promise<ReplyBody<"ListMembers">> {
  const { state } = await openAsMember(asker, channelId);
  const members = [...state.members].map(([agentId, { joinedSequence, leaving }]) => ({
    agentId,
    joinedSequence,
    online: asker.core.sessions.isOnline(agentId),
    leaving: leaving !== undefined,
    owner: state.owners.has(agentId),
  }));
  return { epoch: state.epoch, members };
}

/**
 * Somebody that lapsed may leave too. A statement about another leaf takes the place of an earlier
 * one. An agent that says which membership it leaves is told when that is over: its statement is
 * about a leaf that is gone.
 */
export async function leaveChannel(
  asker: AgentAsker,
  { channelId, leafHash, signature, joinedSequence: left }: RequestBody<"LeaveChannel">,
): Promise<ReplyBody<"LeaveChannel">> {
  const { core, agent: { agentId, publicKey, account } } = asker;
  const channel = await core.channels.open(channelId);
  const membership = (): MemberState => {
    const member = channel?.state.closed === undefined
      ? channel?.state.members.get(agentId)
      : undefined;
    if (member === undefined) throw channelNotFound();
    if (left === undefined || left === member.joinedSequence) return member;
    throw new Refusal(
      "state_conflict",
      "This agent was brought in anew; leave again once the Welcome has come",
    );
  };
  membership();
  if (channel === undefined) throw channelNotFound();
  // A member that has not followed into the present generation leaves the one before it.
  const { generation } = channel.state;
  const isSigned = [generation, Math.max(0, generation - 1)].some((of) => {
    const statement = leaveStatement({ channelId: groupIdOf(channelId, of), agentId, leafHash });
    return core.deps.verifySignature(publicKey, statement, signature);
  });
  if (!isSigned) {
    throw new Refusal("invalid_request", "The signature of the leave statement is wrong");
  }
  checkLeaveRate(asker, channelId, membership());
  const room = await roomIn(core, channel, account);
  const { sequence } = await appendInAnyEpoch(core, channel, (epoch) => {
    const { joinedSequence, leaving } = membership();
    return {
      kind: "leave",
      epoch,
      sender: agentId,
      timeMs: core.deps.nowMs(),
      ...encodeLeaveBody({ leafHash, signature }),
      key: `leave:${agentId}:${joinedSequence}:${encodeBase64url(leafHash)}`,
      ...sentBy(asker.agent),
      added: [],
      removed: [agentId],
      // Leaving is never refused for want of room; leaving again and again is.
      ...(leaving?.reason === "left" && { room }),
    };
  });
  const open = core.joins.ofAgent(agentId, channelId);
  if (open !== undefined) core.joins.remove(open.requestId);
  await core.deps.engine.dropCursor(channelId, agentId);
  if (channel.state.leaving.length === channel.state.members.size) {
    await close(core, channel, agentId);
  }
  return { sequence };
}

/** Each is an entry for all members: the room of the log alone would let one agent fill it. */
function checkLeaveRate(
  { core, agent }: AgentAsker,
  channelId: ChannelId,
  { leaving }: MemberState,
): void {
  if (leaving?.reason !== "left") return;
  const retryAfterMs = core.limits.rates.leavesAgain.take(
    `${channelId} ${agent.agentId}`,
    core.deps.nowMs(),
  );
  if (retryAfterMs === undefined) return;
  throw new Refusal("rate_limited", "This agent has left already, and says so too often; wait", {
    retryAfterMs,
  });
}

export async function closeChannel(
  asker: AgentAsker,
  { channelId }: RequestBody<"CloseChannel">,
): Promise<ReplyBody<"CloseChannel">> {
  const { core, agent } = asker;
  const channel = await core.channels.open(channelId);
  if (channel === undefined) throw channelNotFound();
  const { state } = channel;
  const owns = state.owners.has(agent.agentId) &&
    state.members.get(agent.agentId)?.leaving?.reason !== "left";
  const mayClose = channel.account === agent.account || owns;
  if (!mayClose) {
    await openAsMember(asker, channelId);
    throw new Refusal(
      "not_allowed",
      "Only an owner, or the account that created a channel, may close it",
    );
  }
  return { closedAtMs: state.closed?.timeMs ?? await close(core, channel, agent.agentId) };
}

/**
 * Closes the channels that an account has made. Returns whether anything of one is stored still.
 */
export async function closeChannelsOf(core: CoreParts, account: AccountId): Promise<boolean> {
  const { channels, deps: { engine } } = core;
  const limit = 100;
  for (let page = await engine.listChannels({ agentId: nobody, account, limit });;) {
    for (const channelId of page.channels) {
      const channel = await channels.open(channelId);
      if (channel !== undefined && channel.state.closed === undefined) {
        await close(core, channel, nobody);
      }
    }
    const after = page.channels.at(-1);
    if (!page.more || after === undefined) break;
    page = await engine.listChannels({ agentId: nobody, account, limit, after });
  }
  return (await engine.closedChannels({ account, limit: 1 })).length > 0;
}

/**
 * Deletes the closed channels that an account has made, names and all, although members may not
 * have read them: those that still read are told of the end at once.
 */
export async function eraseChannelsOf(core: CoreParts, account: AccountId): Promise<void> {
  const { channels, deps: { engine } } = core;
  // Also those that another relay has deleted from a log that both share.
  for (const channel of [...channels]) {
    const { closed } = channel.state;
    if (channel.account !== account || closed === undefined) continue;
    const { sequence, timeMs } = closed;
    for (const subscription of [...channel.subscriptions.values()]) {
      subscription.cut({ sequence, timeMs, reason: "closed", atOnce: true });
    }
    channels.drop(channel);
  }
  for (;;) {
    const page = await engine.closedChannels({ account, limit: 100 });
    if (page.length === 0) return;
    for (const channelId of page) await engine.purge(channelId);
  }
}

/** The channel ends for all; its name is free. */
async function close(core: CoreParts, channel: LoadedChannel, by: AgentId): Promise<number> {
  try {
    const { timeMs } = await appendInAnyEpoch(core, channel, (epoch) => ({
      kind: "close",
      epoch,
      sender: by,
      timeMs: core.deps.nowMs(),
      ...emptyBody,
      key: "close",
      added: [],
      removed: [],
    }));
    core.deps.log({ event: "channel_closed", channelId: channel.channelId, agentId: by });
    return timeMs;
  } catch (error) {
    // Unless somebody else was faster; of that the channel knows by now.
    const doneAtMs = closedAtMs(channel);
    if (doneAtMs === undefined) throw error;
    return doneAtMs;
  }
}

function closedAtMs({ state }: LoadedChannel): number | undefined {
  return state.closed?.timeMs;
}
