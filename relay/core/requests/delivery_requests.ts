/** Reading a channel: subscriptions and acknowledgements. */
import { equalBytes, type ReplyBody, type RequestBody } from "../../../proto/mod.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { epochConflict, Refusal } from "../refusal.ts";
import type { AgentAsker } from "./request_handler.ts";
import { Subscription } from "../channel/subscription.ts";
import { decodeCommitBody, decodeMessageBody } from "../channel/entry_body.ts";
import { openAsMember, openAsReader } from "./channel_access.ts";
import { mayAnswer } from "../channel/pending_joins.ts";
import { rejoinNotice } from "./rejoin_requests.ts";

export async function subscribe(
  asker: AgentAsker,
  { channelId, after, windowBytes, tag, log: known }: RequestBody<"Subscribe">,
): Promise<ReplyBody<"Subscribe">> {
  const { core, session, agent: { agentId } } = asker;
  const log = await core.logId.get();
  const channel = await openAsReader(asker, channelId);
  // Else it would take the place of a subscription of the session that has replaced this one.
  if (session.isEnded) throw new Refusal("transport_error", "The session has ended");
  const consumed = channel.cursor(agentId) ?? 0;
  const { joinedSequence } = channel.state.members.get(agentId) ??
    channel.state.former.get(agentId) ??
    { joinedSequence: 0 };
  if (after !== undefined && after > channel.head) await core.deps.cluster?.catchUp();
  if (after !== undefined && (after > channel.head || after < joinedSequence)) {
    throw new Refusal(
      "cursor_invalid",
      `This agent can read from ${joinedSequence} to ${channel.head}, not ${after}`,
    );
  }
  if (after !== undefined && known !== undefined && !equalBytes(known, log)) {
    throw new Refusal(
      "cursor_invalid",
      "The relay was put back from a backup since: read on without a position",
    );
  }
  const start = Math.max(after ?? 0, consumed, joinedSequence);
  session.unsubscribe(channelId);
  if (session.subscriptions.size >= core.config.subscriptionsPerSession) {
    throw new Refusal(
      "rate_limited",
      `A session subscribes to at most ${core.config.subscriptionsPerSession} channels; unsubscribe from some`,
    );
  }
  const confirms = session.link.transport !== "typed";
  const subscription = new Subscription(channel, session, {
    agentId,
    tag,
    windowBytes,
    after: start,
    confirms,
  });
  session.subscribe(channelId, { channel, subscription });
  channel.subscriptions.set(agentId, subscription);
  session.notify("DeliverStart", { channelId, tag, after: start });
  const end = channel.endOf(agentId);
  if (end !== undefined) subscription.stopAt(end);
  subscription.wake();
  tellRejoins(asker, channel);
  const { head, state: { epoch, generation, members } } = channel;
  const { acknowledged } = channel.cursorOf(agentId);
  const sent = members.get(agentId)?.sent;
  const claims = { joinedSequence, acknowledged, ...(sent && { sent }) };
  return { after: start, head, epoch, consumed, generation, log, ...claims };
}

export function unsubscribe(
  { session }: AgentAsker,
  { channelId }: RequestBody<"Unsubscribe">,
): ReplyBody<"Unsubscribe"> {
  session.unsubscribe(channelId);
  return {};
}

export async function acknowledge(
  asker: AgentAsker,
  { channelId, consumed, received }: RequestBody<"Acknowledge">,
): Promise<ReplyBody<"Acknowledge">> {
  const { core, session, quiet, agent: { agentId } } = asker;
  const held = session.subscriptions.get(channelId);
  const channel = held?.channel ?? await openAsReader(asker, channelId);
  if (Math.max(consumed, received) > channel.head) await core.deps.cluster?.catchUp();
  if (consumed > channel.head || received > channel.head) {
    throw new Refusal(
      "cursor_invalid",
      `The channel's log ends at ${channel.head}; cannot acknowledge beyond it`,
    );
  }
  held?.subscription.received(Math.max(received, consumed));
  channel.acknowledge(agentId, consumed);
  core.upkeep.touch(channel);
  const cursor = channel.cursorOf(agentId);
  // Nobody waits for the disk of a notice: the cursor is written within a second, and what comes
  // twice is recognised.
  if (!quiet) await core.deps.engine.moveCursors(channelId, [[agentId, cursor]]);
  return { consumed: cursor.consumed };
}

/**
 * Whether the statement is true, its readers judge. It is in memory only, and the member says it
 * again.
 */
export async function confirm(
  asker: AgentAsker,
  { channelId, ...statement }: RequestBody<"Confirm">,
): Promise<ReplyBody<"Confirm">> {
  const { session, agent: { agentId } } = asker;
  const held = session.subscriptions.get(channelId)?.channel;
  const channel = held?.state.isActive(agentId) ? held : await openAsMember(asker, channelId);
  const { epoch } = channel.state;
  if (statement.epoch > epoch) throw epochConflict(epoch);
  channel.confirm(agentId, statement);
  asker.core.deps.cluster?.confirm(channelId, agentId, statement);
  return {};
}

/**
 * The agent's own entry, so that it can see whether it remembers it. Nothing when it is another's,
 * or trimmed.
 */
export async function readOwn(
  asker: AgentAsker,
  { channelId, sequence }: RequestBody<"ReadOwn">,
): Promise<ReplyBody<"ReadOwn">> {
  const channel = await openAsMember(asker, channelId);
  const item = (await channel.itemAt(sequence))?.item;
  if (item === undefined || item.kind === "gap" || item.sender !== asker.agent.agentId) return {};
  const { epoch } = item;
  switch (item.kind) {
    case "message":
      return { message: { epoch, ...decodeMessageBody(item) } };
    case "commit": {
      const { commit, added, removed, owners, signature, generation, state, nextState } =
        decodeCommitBody(item);
      const declared = { added, removed, ...(owners && { owners }) };
      const signed = signature && state && nextState && { signature, state, nextState };
      return signed === undefined
        ? {}
        : { commit: { epoch, commit, ...declared, ...signed, generation } };
    }
    default:
      return {};
  }
}

function tellRejoins({ core, session, agent }: AgentAsker, channel: LoadedChannel): void {
  for (const request of core.joins.ofChannel(channel.channelId)) {
    if (request.kind === "rejoin" && mayAnswer(request, agent.agentId)) {
      session.notify("DeliverRejoinRequest", rejoinNotice(request));
    }
  }
}
