/** Since when members have their present keys, on disk: a small record each, because only one changes with a commit. */
import { type AgentId, type ChannelId, parseAgentId } from "../../proto/mod.ts";
import { decodeFields, encodeFields, type RecordChange } from "../store/mod.ts";
import { type ChannelStore, keysKind } from "./records.ts";

/** A leaf, by the beginning of its hash in hexadecimal, and when it was first seen. */
export interface SeenLeaf {
  readonly leaf: string;
  readonly atMs: number;
}

export async function readKeyAges(
  store: Pick<ChannelStore, "list">,
  channelId: ChannelId,
): Promise<Map<AgentId, SeenLeaf>> {
  const kind = keysKind(channelId);
  return new Map((await store.list(kind)).map(({ id, value }) => {
    const fields = decodeFields(value, kind);
    return [parseAgentId(id), { leaf: fields.text(0), atMs: fields.number(1) }];
  }));
}

export function putKeyAge(channelId: ChannelId, agentId: AgentId, { leaf, atMs }: SeenLeaf): RecordChange {
  return { type: "put", kind: keysKind(channelId), id: agentId, value: encodeFields([leaf, atMs]) };
}

export function deleteKeyAge(channelId: ChannelId, agentId: AgentId): RecordChange {
  return { type: "delete", kind: keysKind(channelId), id: agentId };
}
