/** Making an invite known to the relay, and withdrawing it. */
import type { ReplyBody, RequestBody } from "../../../proto/mod.ts";
import { decodeInvite, encodeInvite, inviteKey } from "../invite_records.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker } from "../request_handler.ts";
import { openAsMember } from "./channel_access.ts";
import { rejectPending } from "./join_requests.ts";

/** Its record stays on disk for so long; the reply tells. */
const longestInviteMs = 400 * 24 * 60 * 60 * 1000;

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
  core.storage.refuseGrowth();
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
      rejectPending(core, request, "join_rejected", "The invite was withdrawn");
    }
  }
  return {};
}
