/**
 * Invites as the engine keeps them. The relay knows an invite by an id that it cannot turn back
 * into the secret. A use is counted in one with the commit that answers the request, so a join that
 * timed out costs nothing. So is the end of an invite by which somebody came that the commit
 * removes.
 */
import {
  type AgentId,
  type ChannelId,
  type InviteId,
  parseAgentId,
  parseBinaryId,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { RecordEdit } from "../../engine/engine.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { CoreParts } from "./request_handler.ts";
import { decodeList, encodeList, type ListFormat } from "../channel/stored_list.ts";

const invites: ListFormat = { what: "stored invite", steps: [] };

export interface InviteRecord {
  readonly inviter: AgentId;
  /**
   * The membership in which it was made: an inviter that is removed and comes back has other
   * invites.
   */
  readonly sinceSequence: number;
  readonly uses: number;
  readonly expiresAtMs: number;
  /** Members that came in by it. */
  readonly came: readonly AgentId[];
}

export async function findInvite(
  core: CoreParts,
  channelId: ChannelId,
  inviteId: InviteId,
): Promise<InviteRecord | undefined> {
  const key = inviteKey(channelId, inviteId);
  let stored = await core.deps.engine.records.get(key);
  if (stored === undefined && core.deps.cluster !== undefined) {
    await core.deps.cluster?.catchUp();
    stored = await core.deps.engine.records.get(key);
  }
  if (stored === undefined || stored.expiresAtMs <= core.deps.nowMs()) return undefined;
  const invite = decodeInvite(stored.value);
  return invite.uses > 0 ? invite : undefined;
}

/** Whether its inviter may still answer it. */
export function isInviteGood(
  { inviter, sinceSequence }: InviteRecord,
  { state }: LoadedChannel,
): boolean {
  return state.isActive(inviter) && state.members.get(inviter)?.sinceSequence === sinceSequence;
}

/** Changes that a commit makes to its channel's invites. */
export interface InviteChanges {
  /** To be written with the commit. */
  readonly edits: readonly RecordEdit[];
  /** Nobody comes in by these any more. */
  readonly ended: readonly InviteId[];
}

/**
 * Returns the changes of invite records with a commit. Agents that it lets in use their invites up.
 * An agent that it removes against its will takes with it the invites that it made and the one by
 * which it came: its maker gave it to the wrong one, or it has become known to others.
 */
export async function inviteChanges(
  core: CoreParts,
  channel: LoadedChannel,
  { added, removed, answers }: Pick<RequestBody<"SendCommit">, "added" | "removed" | "answers">,
): Promise<InviteChanges> {
  const { state } = channel;
  const expelled = new Set(
    removed.filter((agentId) =>
      !added.includes(agentId) && state.members.has(agentId) &&
      state.members.get(agentId)?.leaving?.reason !== "left"
    ),
  );
  const ended = expelled.size === 0 ? [] : await invitesOf(core, channel, expelled);
  const used = new Map<InviteId, AgentId[]>();
  for (const requestId of answers) {
    const request = core.joins.find(requestId);
    if (request?.kind !== "join" || request.channelId !== channel.channelId) continue;
    // A request is answered only when its agent is added, whatever the commit's sender says.
    if (!added.includes(request.agentId) || ended.includes(request.inviteId)) continue;
    used.set(request.inviteId, [...used.get(request.inviteId) ?? [], request.agentId]);
  }
  const edits: RecordEdit[] = ended.map((id) => ({
    kind: "delete",
    key: inviteKey(channel.channelId, id),
  }));
  for (const [inviteId, agents] of used) {
    const edit = await useEdit(core, channel, inviteKey(channel.channelId, inviteId), agents);
    if (edit !== undefined) edits.push(edit);
  }
  return { edits, ended };
}

/** Which these agents made, or came by. */
async function invitesOf(
  { deps: { engine } }: CoreParts,
  { channelId }: LoadedChannel,
  agents: ReadonlySet<AgentId>,
): Promise<InviteId[]> {
  const prefix = inviteKey(channelId, "");
  const records = (await engine.records.ofChannel(channelId)).filter(({ key }) =>
    key.startsWith(prefix)
  );
  return records.flatMap(({ key, value }) => {
    const { inviter, came } = decodeInvite(value);
    const isOver = agents.has(inviter) || came.some((agentId) => agents.has(agentId));
    return isOver ? [parseBinaryId<InviteId>(key.slice(prefix.length))] : [];
  });
}

/** The last use ends it. Of those that came before, the ones that are gone are forgotten. */
async function useEdit(
  { deps: { engine } }: CoreParts,
  { state }: LoadedChannel,
  key: string,
  agents: readonly AgentId[],
): Promise<RecordEdit | undefined> {
  const stored = await engine.records.get(key);
  if (stored === undefined) return undefined;
  const invite = decodeInvite(stored.value);
  const uses = invite.uses - agents.length;
  if (uses <= 0) return { kind: "delete", key };
  const came = [...invite.came.filter((agentId) => state.members.has(agentId)), ...agents];
  return {
    kind: "replace",
    key,
    revision: stored.revision,
    value: encodeInvite({ ...invite, uses, came }),
  };
}

export function inviteKey(channelId: ChannelId, inviteId: InviteId | ""): string {
  return `invite/${channelId}/${inviteId}`;
}

export function encodeInvite(
  { inviter, sinceSequence, uses, expiresAtMs, came }: InviteRecord,
): Uint8Array {
  return encodeList(invites, [inviter, sinceSequence, uses, expiresAtMs, [...came]]);
}

export function decodeInvite(bytes: Uint8Array): InviteRecord {
  const [inviter, sinceSequence, uses, expiresAtMs, came] = decodeList(invites, bytes);
  if (
    typeof inviter !== "string" || typeof sinceSequence !== "number" || typeof uses !== "number" ||
    typeof expiresAtMs !== "number" || !Array.isArray(came)
  ) throw new TypeError("A stored invite is damaged");
  const agents = came.map((agentId) => parseAgentId(String(agentId)));
  return { inviter: parseAgentId(inviter), sinceSequence, uses, expiresAtMs, came: agents };
}
