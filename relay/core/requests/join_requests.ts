/** Asking to join a channel, and what becomes of it. The inviter's own record of its invite decides who joins. */
import {
  binaryIdFromBytes,
  type ChannelId,
  type InviteId,
  type JoinRequestId,
  type NoticeBody,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { findInvite, isInviteGood } from "../invite_records.ts";
import { isSameKeyPackage, type JoinRequest, type PendingJoin } from "../pending_joins.ts";
import { channelNotFound, Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "../request_handler.ts";
import { openAsMember } from "./channel_access.ts";
import { checkOwn } from "./key_package_requests.ts";

const requestIdBytes = 16;

/** Requests that wait are answered within moments, or end. */
const crowdRetryMs = 10_000;

export async function requestJoin(
  asker: AgentAsker,
  body: RequestBody<"RequestJoin">,
): Promise<ReplyBody<"RequestJoin">> {
  const { core, agent: { agentId } } = asker;
  const { channelId, inviteId, keyPackage, mac, ttlMs } = body;
  const invite = await findInvite(core, channelId, inviteId);
  const channel = await core.channels.open(channelId);
  if (invite === undefined || channel === undefined || !isInviteGood(invite, channel)) throw channelNotFound();
  if (channel.state.isActive(agentId)) throw new Refusal("already_member", "This agent is in the channel already");
  checkOwn(asker, keyPackage);
  const inviterOnline = core.isOnline(invite.inviter);
  const open = core.joins.ofAgent(agentId, channelId);
  if (open?.kind === "join" && open.inviteId === inviteId && isSameKeyPackage(open, keyPackage)) {
    return { requestId: open.requestId, expiresAtMs: open.expiresAtMs, inviterOnline };
  }
  refuseCrowd(core, core.joins.ofInviter(invite.inviter), open);
  if (open !== undefined) core.joins.remove(open.requestId);
  const request: JoinRequest = {
    kind: "join",
    ...newRequest(asker, channelId, ttlMs),
    keyPackage,
    inviteId,
    inviter: invite.inviter,
    mac,
  };
  hold(core, request);
  core.deps.meter.joinRequests++;
  core.deps.cluster?.shareJoin(request);
  core.sessionOf(invite.inviter)?.notify("DeliverJoinRequest", joinNotice(request));
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
  const mine = request?.channelId === channelId && request.kind === "join" && request.inviter === agent.agentId;
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

export function joinNotice(request: JoinRequest): NoticeBody<"DeliverJoinRequest"> {
  const { channelId, requestId, inviteId, agentId, keyPackage, mac, expiresAtMs } = request;
  return { channelId, requestId, inviteId, agentId, keyPackage, mac, expiresAtMs };
}

export function newRequest(
  { core, agent: { agentId, account } }: AgentAsker,
  channelId: ChannelId,
  ttlMs: number,
): Pick<PendingJoin, "requestId" | "channelId" | "agentId" | "account" | "expiresAtMs"> {
  const { joinRequestsPerAgent, joinRequestsPerAccount, joinRequestsInAll } = core.config;
  if (core.joins.countOfAgent(agentId) >= joinRequestsPerAgent) {
    throw new Refusal("rate_limited", "This agent has too many join requests open; wait for their answers", {
      retryAfterMs: crowdRetryMs,
    });
  }
  if (core.joins.countOfAccount(account) >= joinRequestsPerAccount) {
    throw new Refusal("rate_limited", "This account has too many join requests open; wait for their answers", {
      retryAfterMs: crowdRetryMs,
    });
  }
  if (core.joins.size >= joinRequestsInAll) {
    throw new Refusal("overloaded", "Too many join requests wait at this relay; try again later", {
      retryAfterMs: crowdRetryMs,
    });
  }
  const expiresAtMs = core.deps.nowMs() + Math.min(ttlMs, core.config.limits.joinRequestMs);
  const requestId = binaryIdFromBytes<JoinRequestId>(core.deps.randomBytes(requestIdBytes));
  return { requestId, channelId, agentId, account, expiresAtMs };
}

/** Unless the new request takes the place of one that waits with them. */
export function refuseCrowd(
  { config }: CoreParts,
  waiting: readonly PendingJoin[],
  open: PendingJoin | undefined,
): void {
  if (waiting.length < config.joinRequestsPerInviter || waiting.some((request) => request === open)) return;
  throw new Refusal("rate_limited", "Too many others wait for the same answer; try again later", {
    retryAfterMs: crowdRetryMs,
  });
}

export function hold(core: CoreParts, request: PendingJoin): void {
  const cancel = core.deps.after(request.expiresAtMs - core.deps.nowMs(), () => {
    if (core.joins.remove(request.requestId) === undefined) return;
    // Every relay that knows of it has this timer: the one that has the asker's session tells it.
    const { agentId, channelId, requestId } = request;
    const message = "Nobody answered in time; is the inviter running?";
    core.sessionOf(agentId)?.notify("DeliverJoinRejected", { channelId, requestId, code: "join_timeout", message });
  });
  core.joins.add(request, cancel);
}

export function rejectPending(
  core: CoreParts,
  { requestId, channelId, agentId }: PendingJoin,
  code: string,
  message: string,
): void {
  if (core.joins.remove(requestId) === undefined) return;
  core.tell(agentId, "DeliverJoinRejected", { channelId, requestId, code, message });
}
