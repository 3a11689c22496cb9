/**
 * Invites and what comes of them. The relay knows an invite by an id that it cannot turn back into the secret; the inviter's
 * own record decides who joins. A use is counted when a commit answers the request, so a join that timed out costs nothing.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  binaryIdFromBytes,
  type ChannelId,
  type InviteId,
  type JoinRequestId,
  type NoticeBody,
  parseAgentId,
  rejoinStatement,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { Channel } from "../channel.ts";
import type { AgentAsker, CoreParts } from "../request_handler.ts";
import { isSameKeyPackage, type JoinRequest, type PendingJoin, type RejoinRequest } from "../pending_joins.ts";
import { openAsMember } from "./channel_access.ts";
import { channelNotFound, Refusal } from "../refusal.ts";
import { decodeList, encodeList, type ListFormat } from "../stored_list.ts";
import { epochConflict } from "./channel_requests.ts";
import { checkOwn } from "./key_package_requests.ts";

const requestIdBytes = 16;
/** Its record stays on disk for so long; the reply tells. */
const longestInviteMs = 400 * 24 * 60 * 60 * 1000;
/** Attempts at a record that others change at the same time. */
const maxAttempts = 5;

/** Version 1 had no number. */
const invites: ListFormat = { what: "stored invite", first: 1, steps: [(fields) => fields] };

interface InviteRecord {
  readonly inviter: AgentId;
  /** The membership in which it was made: an inviter that is removed and comes back has other invites. */
  readonly sinceSequence: number;
  readonly uses: number;
  readonly expiresAtMs: number;
}

export async function registerInvite(
  asker: AgentAsker,
  { channelId, inviteId, expiresAtMs: wantedMs, uses }: RequestBody<"RegisterInvite">,
): Promise<ReplyBody<"RegisterInvite">> {
  const { core, agent } = asker;
  const { engine, nowMs } = core.deps;
  const { state } = await openAsMember(asker, channelId);
  const expiresAtMs = Math.min(wantedMs, nowMs() + longestInviteMs);
  if (expiresAtMs <= nowMs()) throw new Refusal("invalid_request", "The invite has expired already; check the clock");
  const sinceSequence = state.members.get(agent.agentId)?.sinceSequence ?? 0;
  const key = inviteKey(channelId, inviteId);
  const existing = await engine.records.get(key);
  if (existing !== undefined) {
    const invite = decodeInvite(existing.value);
    if (invite.inviter !== agent.agentId) throw new Refusal("invalid_request", "This invite id is another agent's");
    if (invite.sinceSequence === sinceSequence) return { expiresAtMs: existing.expiresAtMs };
  }
  const retryAfterMs = core.inviteRate.take(agent.agentId, nowMs());
  if (retryAfterMs !== undefined) throw new Refusal("rate_limited", "Too many invites; try later", { retryAfterMs });
  const value = encodeInvite({ inviter: agent.agentId, sinceSequence, uses, expiresAtMs });
  const outcome = await engine.records.put(key, { value, expiresAtMs }, existing?.revision ?? 0);
  if (outcome.kind === "conflict") {
    throw new Refusal("overloaded", "The invite was registered or used at the same time; try again", {
      retryAfterMs: 100,
    });
  }
  return { expiresAtMs };
}

export async function revokeInvite(
  asker: AgentAsker,
  { channelId, inviteId }: RequestBody<"RevokeInvite">,
): Promise<ReplyBody<"RevokeInvite">> {
  const { core, agent } = asker;
  const { state } = await openAsMember(asker, channelId);
  const key = inviteKey(channelId, inviteId);
  const existing = await core.deps.engine.records.get(key);
  if (existing === undefined) return {};
  const { inviter } = decodeInvite(existing.value);
  if (inviter !== agent.agentId && !state.owners.has(agent.agentId)) {
    throw new Refusal("not_allowed", "Only the inviter or an owner withdraws an invite");
  }
  await core.deps.engine.records.delete(key);
  for (const request of core.joins.ofInviter(inviter)) {
    if (request.kind === "join" && request.inviteId === inviteId) {
      reject(core, request, "join_rejected", "The invite was withdrawn");
    }
  }
  return {};
}

export async function requestJoin(
  asker: AgentAsker,
  body: RequestBody<"RequestJoin">,
): Promise<ReplyBody<"RequestJoin">> {
  const { core, agent: { agentId } } = asker;
  const { channelId, inviteId, keyPackage, mac, ttlMs } = body;
  const invite = await findInvite(core, channelId, inviteId);
  const channel = await core.channels.open(channelId);
  if (invite === undefined || channel === undefined || !isGood(invite, channel)) throw channelNotFound();
  if (channel.state.isActive(agentId)) throw new Refusal("already_member", "This agent is in the channel already");
  checkOwn(asker, keyPackage);
  const inviterOnline = core.sessionOf(invite.inviter) !== undefined;
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
  const mine = request?.channelId === channelId && (request.kind === "rejoin" || request.inviter === agent.agentId);
  if (request !== undefined && mine) reject(core, request, code, message);
  return {};
}

export async function requestRejoin(
  asker: AgentAsker,
  { channelId, keyPackage, signature, epoch }: RequestBody<"RequestRejoin">,
): Promise<ReplyBody<"RequestRejoin">> {
  const { core, agent: { agentId, publicKey } } = asker;
  const channel = await core.channels.open(channelId);
  const member = channel?.state.members.get(agentId);
  if (channel === undefined || channel.state.closed || member === undefined || member.leaving?.reason === "left") {
    throw channelNotFound();
  }
  if (epoch !== channel.state.epoch) throw epochConflict(channel);
  checkOwn(asker, keyPackage);
  const statement = rejoinStatement({ channelId, agentId, keyPackageHash: sha256(keyPackage), epoch });
  if (!core.deps.verifySignature(publicKey, statement, signature)) {
    throw new Refusal("invalid_request", "The signature of the rejoin statement is wrong");
  }
  const open = core.joins.ofAgent(agentId, channelId);
  if (open?.kind === "rejoin" && open.epoch === epoch && isSameKeyPackage(open, keyPackage)) {
    return { requestId: open.requestId, expiresAtMs: open.expiresAtMs };
  }
  refuseCrowd(core, core.joins.ofChannel(channelId).filter(({ kind }) => kind === "rejoin"), open);
  if (open !== undefined) core.joins.remove(open.requestId);
  const request: RejoinRequest = {
    kind: "rejoin",
    ...newRequest(asker, channelId, core.config.limits.joinRequestMs),
    keyPackage,
    signature,
    epoch,
  };
  hold(core, request);
  core.deps.meter.joinRequests++;
  for (const reader of channel.subscriptions.keys()) {
    if (reader !== agentId) core.sessionOf(reader)?.notify("DeliverRejoinRequest", rejoinNotice(request));
  }
  return { requestId: request.requestId, expiresAtMs: request.expiresAtMs };
}

/** A commit answered these requests: they are over, and their invites are used once more. */
export async function answerRequests(core: CoreParts, requests: readonly PendingJoin[]): Promise<void> {
  for (const request of requests) {
    core.joins.remove(request.requestId);
    if (request.kind === "join") await useInvite(core, request);
  }
}

export function joinNotice(request: JoinRequest): NoticeBody<"DeliverJoinRequest"> {
  const { channelId, requestId, inviteId, agentId, keyPackage, mac, expiresAtMs } = request;
  return { channelId, requestId, inviteId, agentId, keyPackage, mac, expiresAtMs };
}

export function rejoinNotice(request: RejoinRequest): NoticeBody<"DeliverRejoinRequest"> {
  const { channelId, requestId, agentId, keyPackage, signature, expiresAtMs, epoch } = request;
  return { channelId, requestId, agentId, keyPackage, signature, expiresAtMs, epoch };
}

function newRequest(
  { core, agent: { agentId, account } }: AgentAsker,
  channelId: ChannelId,
  ttlMs: number,
): Pick<PendingJoin, "requestId" | "channelId" | "agentId" | "account" | "expiresAtMs"> {
  const { joinRequestsPerAgent, joinRequestsPerAccount, joinRequestsInAll } = core.config;
  if (core.joins.countOfAgent(agentId) >= joinRequestsPerAgent) {
    throw new Refusal("rate_limited", "This agent has too many join requests open; wait for their answers");
  }
  if (core.joins.countOfAccount(account) >= joinRequestsPerAccount) {
    throw new Refusal("rate_limited", "This account has too many join requests open; wait for their answers");
  }
  if (core.joins.size >= joinRequestsInAll) {
    throw new Refusal("overloaded", "Too many join requests wait at this relay; try again later", {
      retryAfterMs: 10_000,
    });
  }
  const expiresAtMs = core.deps.nowMs() + Math.min(ttlMs, core.config.limits.joinRequestMs);
  const requestId = binaryIdFromBytes<JoinRequestId>(core.deps.randomBytes(requestIdBytes));
  return { requestId, channelId, agentId, account, expiresAtMs };
}

/** Unless the new request takes the place of one that waits with them. */
function refuseCrowd(
  { config }: CoreParts,
  waiting: readonly PendingJoin[],
  open: PendingJoin | undefined,
): void {
  if (waiting.length < config.joinRequestsPerInviter || waiting.some((request) => request === open)) return;
  const retryAfterMs = 10_000;
  throw new Refusal("rate_limited", "Too many others wait for the same answer; try again later", { retryAfterMs });
}

function hold(core: CoreParts, request: PendingJoin): void {
  const cancel = core.deps.after(request.expiresAtMs - core.deps.nowMs(), () => {
    reject(core, request, "join_timeout", "Nobody answered in time; is the inviter running?");
  });
  core.joins.add(request, cancel);
}

function reject(
  core: CoreParts,
  { requestId, channelId, agentId }: PendingJoin,
  code: string,
  message: string,
): void {
  if (core.joins.remove(requestId) === undefined) return;
  core.sessionOf(agentId)?.notify("DeliverJoinRejected", { channelId, requestId, code, message });
}

async function findInvite(
  core: CoreParts,
  channelId: ChannelId,
  inviteId: InviteId,
): Promise<InviteRecord | undefined> {
  const stored = await core.deps.engine.records.get(inviteKey(channelId, inviteId));
  if (stored === undefined || stored.expiresAtMs <= core.deps.nowMs()) return undefined;
  const invite = decodeInvite(stored.value);
  return invite.uses > 0 ? invite : undefined;
}

/** Whether its inviter may still answer it. */
function isGood({ inviter, sinceSequence }: InviteRecord, { state }: Channel): boolean {
  return state.isActive(inviter) && state.members.get(inviter)?.sinceSequence === sinceSequence;
}

async function useInvite(core: CoreParts, { channelId, inviteId }: JoinRequest): Promise<void> {
  const { records } = core.deps.engine;
  const key = inviteKey(channelId, inviteId);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = await records.get(key);
    if (stored === undefined) return;
    const invite = decodeInvite(stored.value);
    if (invite.uses <= 1) return await records.delete(key);
    const { expiresAtMs } = stored;
    const value = encodeInvite({ ...invite, uses: invite.uses - 1 });
    const outcome = await records.put(key, { value, expiresAtMs }, stored.revision);
    if (outcome.kind === "stored") return;
  }
}

function inviteKey(channelId: ChannelId, inviteId: InviteId): string {
  return `invite/${channelId}/${inviteId}`;
}

function encodeInvite({ inviter, sinceSequence, uses, expiresAtMs }: InviteRecord): Uint8Array {
  return encodeList(invites, [inviter, sinceSequence, uses, expiresAtMs]);
}

function decodeInvite(bytes: Uint8Array): InviteRecord {
  const [inviter, sinceSequence, uses, expiresAtMs] = decodeList(invites, bytes);
  if (
    typeof inviter !== "string" || typeof sinceSequence !== "number" || typeof uses !== "number" ||
    typeof expiresAtMs !== "number"
  ) throw new TypeError("A stored invite is damaged");
  return { inviter: parseAgentId(inviter), sinceSequence, uses, expiresAtMs };
}
