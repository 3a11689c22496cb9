/**
 * Asking to join a channel, and what becomes of it. The inviter's own record of its invite decides
 * who joins.
 */
import {
  binaryIdFromBytes,
  type ChannelId,
  type InviteId,
  type JoinRequestId,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { findInvite, isInviteGood } from "./invite_records.ts";
import { joinMinimumMs } from "../limits/join_places.ts";
import {
  isSameKeyPackage,
  type JoinRequest,
  type PendingJoin,
  type PendingJoins,
} from "../channel/pending_joins.ts";
import { channelNotFound, Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "./request_handler.ts";
import type { Session } from "../session/session.ts";
import { openAsMember } from "./channel_access.ts";
import { checkOwn } from "./key_package_requests.ts";
import { askerOf } from "../limits/shares.ts";

const requestIdBytes = 16;

export async function requestJoin(
  asker: AgentAsker,
  body: RequestBody<"RequestJoin">,
): Promise<ReplyBody<"RequestJoin">> {
  const { core, agent: { agentId } } = asker;
  const { channelId, inviteId, keyPackage, mac, ttlMs } = body;
  const invite = await findInvite(core, channelId, inviteId);
  const channel = await core.channels.open(channelId);
  if (invite === undefined || channel === undefined || !isInviteGood(invite, channel)) {
    throw channelNotFound();
  }
  if (channel.state.isActive(agentId)) {
    throw new Refusal("already_member", "This agent is in the channel already");
  }
  checkOwn(asker, keyPackage);
  const inviterOnline = core.sessions.isOnline(invite.inviter);
  const open = core.joins.ofAgent(agentId, channelId);
  if (open?.kind === "join" && open.inviteId === inviteId && isSameKeyPackage(open, keyPackage)) {
    return { requestId: open.requestId, expiresAtMs: open.expiresAtMs, inviterOnline };
  }
  const request: JoinRequest = {
    kind: "join",
    ...newRequest(asker, { channelId, ttlMs, open }),
    keyPackage,
    inviteId,
    inviter: invite.inviter,
    mac,
  };
  hold(core, request, open);
  core.deps.cluster?.shareJoin(request);
  tellInviter(core, request);
  return { requestId: request.requestId, expiresAtMs: request.expiresAtMs, inviterOnline };
}

export async function rejectJoin(
  asker: AgentAsker,
  { channelId, requestId, code, message }: RequestBody<"RejectJoin">,
): Promise<ReplyBody<"RejectJoin">> {
  const { core, agent } = asker;
  await openAsMember(asker, channelId);
  const request = core.joins.find(requestId);
  // Nobody may say no to somebody that comes back: it would be a way to keep members out.
  const mine = request?.channelId === channelId && request.kind === "join" &&
    request.inviter === agent.agentId;
  if (request !== undefined && mine) rejectPending(core, request, code, message);
  return {};
}

/** Nobody comes in by these invites any more. */
export function rejectRequestsOf(
  core: CoreParts,
  channelId: ChannelId,
  inviteIds: readonly InviteId[],
  message: string,
): void {
  if (inviteIds.length === 0) return;
  for (const request of core.joins.ofChannel(channelId)) {
    if (request.kind === "join" && inviteIds.includes(request.inviteId)) {
      rejectPending(core, request, "join_rejected", message);
    }
  }
}

export function tellInviter(core: CoreParts, { inviter, requestId }: JoinRequest): void {
  const session = core.sessions.of(inviter);
  if (session === undefined) return;
  session.joins.add(requestId);
  if (session.joins.size > core.config.joinRequestsPerInviter) forgetEnded(session, core.joins);
  core.sessions.pushWaiting(session);
}

function forgetEnded(session: Session, joins: PendingJoins): void {
  for (const requestId of session.joins) {
    if (joins.find(requestId) === undefined) session.joins.delete(requestId);
  }
}

/** `open` is the agent's own request of this channel, whose place it takes. */
export function newRequest(
  { core, agent: { agentId, account, visitor } }: AgentAsker,
  { channelId, ttlMs, open }: {
    readonly channelId: ChannelId;
    readonly ttlMs: number;
    readonly open: PendingJoin | undefined;
  },
): Pick<
  PendingJoin,
  "requestId" | "channelId" | "agentId" | "account" | "visitor" | "expiresAtMs"
> {
  const { joinRequestsPerAgent, joinRequestsPerAccount } = core.config;
  if (core.joins.countOfAgent(agentId) - Number(open !== undefined) >= joinRequestsPerAgent) {
    throw new Refusal(
      "rate_limited",
      "This agent has too many join requests open; wait for their answers",
      {
        retryAfterMs: joinMinimumMs,
      },
    );
  }
  const asker = { account, visitor };
  const isOwn = open !== undefined && askerOf(open) === askerOf(asker);
  if (core.joins.countOfAsker(asker) - Number(isOwn) >= joinRequestsPerAccount) {
    throw new Refusal(
      "rate_limited",
      "This account has too many join requests open; wait for their answers",
      {
        retryAfterMs: joinMinimumMs,
      },
    );
  }
  const expiresAtMs = core.deps.nowMs() + Math.min(ttlMs, core.config.limits.joinRequestMs);
  const requestId = binaryIdFromBytes<JoinRequestId>(core.deps.randomBytes(requestIdBytes));
  return { requestId, channelId, agentId, ...asker, expiresAtMs };
}

/**
 * In place of `open`, which stays when this one is refused. Throws `Refusal` when there is no place
 * for it.
 */
export function hold(core: CoreParts, request: PendingJoin, open?: PendingJoin): void {
  const cancel = core.deps.after(request.expiresAtMs - core.deps.nowMs(), () => {
    if (core.joins.remove(request.requestId, "unfinished") === undefined) return;
    // Every relay that knows of it has this timer: the one that has the asker's session tells it.
    const { agentId, channelId, requestId } = request;
    const message = "Nobody answered in time; is the inviter running?";
    core.sessions.of(agentId)?.notify("DeliverJoinRejected", {
      channelId,
      requestId,
      code: "join_timeout",
      message,
    });
  });
  const added = core.joins.add(request, cancel, open);
  if (added.kind === "refused") {
    cancel();
    const { retryAfterMs } = added;
    throw new Refusal("overloaded", "Too many others wait for an answer; try again later", {
      retryAfterMs,
    });
  }
  for (const displaced of added.displaced) tellDisplaced(core, displaced);
}

export function tellDisplaced(
  core: CoreParts,
  { agentId, channelId, requestId }: PendingJoin,
): void {
  const message = `Too many others wait for an answer; ask again in ${joinMinimumMs / 1_000} s`;
  core.sessions.tell(agentId, "DeliverJoinRejected", {
    channelId,
    requestId,
    code: "overloaded",
    message,
  });
}

export function rejectPending(
  core: CoreParts,
  { requestId, channelId, agentId }: PendingJoin,
  code: string,
  message: string,
): void {
  if (core.joins.remove(requestId) === undefined) return;
  core.sessions.tell(agentId, "DeliverJoinRejected", { channelId, requestId, code, message });
}
