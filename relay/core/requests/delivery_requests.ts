/** Reading a channel: subscriptions and acknowledgements. */
import type { ReplyBody, RequestBody } from "../../../proto/mod.ts";
import type { Channel } from "../channel.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker } from "../request_handler.ts";
import { Subscription } from "../subscription.ts";
import { openAsReader } from "./channel_access.ts";
import { mayAnswer } from "../pending_joins.ts";
import { rejoinNotice } from "./rejoin_requests.ts";

export async function subscribe(
  asker: AgentAsker,
  { channelId, after, windowBytes, tag }: RequestBody<"Subscribe">,
): Promise<ReplyBody<"Subscribe">> {
  const { core, session, agent: { agentId } } = asker;
  const channel = await openAsReader(asker, channelId);
  // Else it would take the place of a subscription of the session that has replaced this one.
  if (session.isEnded) throw new Refusal("transport_error", "The session has ended");
  const consumed = channel.cursor(agentId) ?? 0;
  const { joinedSequence } = channel.state.members.get(agentId) ?? channel.state.former.get(agentId) ??
    { joinedSequence: 0 };
  if (after !== undefined && (after > channel.head || after < joinedSequence)) {
    throw new Refusal("cursor_invalid", `This agent can read from ${joinedSequence} to ${channel.head}, not ${after}`);
  }
  const start = Math.max(after ?? 0, consumed, joinedSequence);
  session.unsubscribe(channelId);
  if (session.subscriptions.size >= core.config.subscriptionsPerSession) {
    throw new Refusal(
      "rate_limited",
      `A session subscribes to at most ${core.config.subscriptionsPerSession} channels; unsubscribe from some`,
    );
  }
  const subscription = new Subscription(channel, session, { agentId, tag, windowBytes, after: start });
  session.subscriptions.set(channelId, { channel, subscription });
  channel.subscriptions.set(agentId, subscription);
  session.notify("DeliverStart", { channelId, tag, after: start });
  const end = channel.endOf(agentId);
  if (end !== undefined) subscription.stopAt(end);
  subscription.wake();
  tellRejoins(asker, channel);
  return { after: start, head: channel.head, epoch: channel.state.epoch, consumed, generation: 0 };
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
  if (consumed > channel.head || received > channel.head) {
    throw new Refusal("cursor_invalid", `The channel's log ends at ${channel.head}; cannot acknowledge beyond it`);
  }
  held?.subscription.received(Math.max(received, consumed));
  channel.consume(agentId, consumed);
  core.touch(channel);
  const position = channel.cursor(agentId) ?? 0;
  // Nobody waits for the disk of a notice: the cursor is written within a second, and what comes twice is recognised.
  if (!quiet) await core.deps.engine.moveCursor(channelId, agentId, position);
  return { consumed: position };
}

function tellRejoins({ core, session, agent }: AgentAsker, channel: Channel): void {
  for (const request of core.joins.ofChannel(channel.channelId)) {
    if (request.kind === "rejoin" && mayAnswer(request, agent.agentId)) {
      session.notify("DeliverRejoinRequest", rejoinNotice(request));
    }
  }
}
