/**
 * Since when members have their present keys, on disk: a small record each, because only one
 * changes with a commit.
 */
import { type AgentId, type ChannelId, parseAgentId } from "../../../proto/mod.ts";
import type { RecordChange } from "../../store/mod.ts";
import { type ChannelRecords, deleteRecord, fieldsUnder, putRecord } from "../channel_kinds.ts";

/** A leaf, by the beginning of its hash in hexadecimal, and when it was first seen. */
export interface SeenLeaf {
  readonly leaf: string;
  readonly atMs: number;
}

export function keyAgesOf(records: ChannelRecords): Map<AgentId, SeenLeaf> {
  return new Map(
    fieldsUnder(records, "key").map(([name, fields]) => {
      return [parseAgentId(name), { leaf: fields.text(0), atMs: fields.number(1) }];
    }),
  );
}

export function putKeyAge(
  channelId: ChannelId,
  agentId: AgentId,
  { leaf, atMs }: SeenLeaf,
): RecordChange {
  return putRecord(channelId, `key/${agentId}`, [leaf, atMs]);
}

export function deleteKeyAge(channelId: ChannelId, agentId: AgentId): RecordChange {
  return deleteRecord(channelId, `key/${agentId}`);
}
