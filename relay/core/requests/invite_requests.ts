/** Making an invite known to the relay, and withdrawing it. */
import type { ReplyBody, RequestBody } from "../../../proto/mod.ts";
import type { PutOutcome, StorageLimits } from "../../engine/engine.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { decodeInvite, encodeInvite, inviteKey } from "./invite_records.ts";
import { channelNotFound, Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "./request_handler.ts";
import { accountIsFull, channelIsFull, roomIn } from "./append.ts";
import { openAsMember } from "./channel_access.ts";
import { rejectRequestsOf } from "./join_requests.ts";

/** An invite's record stays on disk for at most so long; the reply tells. */
export const longestInviteMs = 400 * 24 * 60 * 60 * 1000;

export async function registerInvite(
  asker: AgentAsker,
  { channelId, inviteId, expiresAtMs: wantedMs, uses }: RequestBody<"RegisterInvite">,
): Promise<ReplyBody<"RegisterInvite">> {
  const { core, agent } = asker;
  const { engine, nowMs } = core.deps;
  const channel = await openAsMember(asker, channelId);
  const { state } = channel;
  const expiresAtMs = Math.min(wantedMs, nowMs() + longestInviteMs);
  if (expiresAtMs <= nowMs()) {
    throw new Refusal("invalid_request", "The invite has expired already; check the clock");
  }
  const sinceSequence = state.members.get(agent.agentId)?.sinceSequence ?? 0;
  const key = inviteKey(channelId, inviteId);
  const existing = await engine.records.get(key);
  if (existing !== undefined) {
    const invite = decodeInvite(existing.value);
    if (invite.inviter !== agent.agentId) {
      throw new Refusal("invalid_request", "This invite id is another agent's");
    }
    if (invite.sinceSequence === sinceSequence) return { expiresAtMs: existing.expiresAtMs };
  }
  core.limits.storage.refuseGrowth();
  const retryAfterMs = core.limits.rates.invites.take(agent.agentId, nowMs());
  if (retryAfterMs !== undefined) {
    throw new Refusal("rate_limited", "Too many invites; try later", { retryAfterMs });
  }
  const value = encodeInvite({
    inviter: agent.agentId,
    sinceSequence,
    uses,
    expiresAtMs,
    came: [],
  });
  const most = core.config.invitesPerChannel;
  const room = await roomIn(core, channel, agent.account);
  const record = { value, expiresAtMs, of: { channelId, most, room } };
  const outcome = await engine.records.put(key, record, existing?.revision ?? 0);
  if (outcome.kind !== "stored") throw refusalOf(core, channel, outcome, room);
  return { expiresAtMs };
}

/** Members use invites up, or withdraw them. */
const crowdedRetryMs = 60_000;

function refusalOf(
  core: CoreParts,
  channel: LoadedChannel,
  outcome: Exclude<PutOutcome, { readonly kind: "stored" }>,
  { accountBytes }: StorageLimits,
): Refusal {
  if (outcome.kind === "no_channel") return channelNotFound();
  if (outcome.kind === "conflict") {
    const retryAfterMs = 100;
    return new Refusal(
      "overloaded",
      "The invite was registered or used at the same time; try again",
      { retryAfterMs },
    );
  }
  const retryAfterMs = crowdedRetryMs;
  if (outcome.of === "records") {
    return new Refusal("rate_limited", "This channel has too many invites; withdraw some first", {
      retryAfterMs,
    });
  }
  if (outcome.of === "channel") return channelIsFull();
  core.relief.begin(channel.account, { accountBytes, dropsMessages: false });
  return accountIsFull();
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
  rejectRequestsOf(core, channelId, [inviteId], "The invite was withdrawn; ask for a new one");
  return {};
}
