/**
 * Invites as the engine keeps them. The relay knows an invite by an id that it cannot turn back into the secret. A use is
 * counted when a commit answers the request, so a join that timed out costs nothing.
 */
import { type AgentId, type ChannelId, type InviteId, parseAgentId } from "../../proto/mod.ts";
import type { NewRecord } from "../engine/engine.ts";
import type { Channel } from "./channel.ts";
import type { JoinRequest } from "./pending_joins.ts";
import type { CoreParts } from "./request_handler.ts";
import { decodeList, encodeList, type ListFormat } from "./stored_list.ts";

/** Attempts at a record that others change at the same time. */
const maxAttempts = 5;

/** Version 1 had no number. */
const invites: ListFormat = { what: "stored invite", first: 1, steps: [(fields) => fields] };

export interface InviteRecord {
  readonly inviter: AgentId;
  /** The membership in which it was made: an inviter that is removed and comes back has other invites. */
  readonly sinceSequence: number;
  readonly uses: number;
  readonly expiresAtMs: number;
}

export async function findInvite(
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
export function isInviteGood({ inviter, sinceSequence }: InviteRecord, { state }: Channel): boolean {
  return state.isActive(inviter) && state.members.get(inviter)?.sinceSequence === sinceSequence;
}

/** One use less; the last one ends it. */
export async function useInvite(core: CoreParts, { channelId, inviteId }: JoinRequest): Promise<void> {
  const { records } = core.deps.engine;
  const key = inviteKey(channelId, inviteId);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = await records.get(key);
    if (stored === undefined) return;
    const invite = decodeInvite(stored.value);
    if (invite.uses <= 1) return await records.delete(key);
    const { expiresAtMs } = stored;
    const value = encodeInvite({ ...invite, uses: invite.uses - 1 });
    const outcome = await records.put(key, { value, expiresAtMs, of: inPlace(channelId) }, stored.revision);
    if (outcome.kind !== "conflict") return;
  }
}

/** One that takes the place of another is not refused for want of room. */
function inPlace(channelId: ChannelId): NonNullable<NewRecord["of"]> {
  return { channelId, most: 0, room: { channelBytes: 0, accountBytes: 0 } };
}

export function inviteKey(channelId: ChannelId, inviteId: InviteId): string {
  return `invite/${channelId}/${inviteId}`;
}

export function encodeInvite({ inviter, sinceSequence, uses, expiresAtMs }: InviteRecord): Uint8Array {
  return encodeList(invites, [inviter, sinceSequence, uses, expiresAtMs]);
}

export function decodeInvite(bytes: Uint8Array): InviteRecord {
  const [inviter, sinceSequence, uses, expiresAtMs] = decodeList(invites, bytes);
  if (
    typeof inviter !== "string" || typeof sinceSequence !== "number" || typeof uses !== "number" ||
    typeof expiresAtMs !== "number"
  ) throw new TypeError("A stored invite is damaged");
  return { inviter: parseAgentId(inviter), sinceSequence, uses, expiresAtMs };
}
