/**
 * A generation of the channel that this agent does not follow, because it does not follow from what
 * it knows. Durable.
 */
import { type AgentId, type ChannelId, parseAgentId } from "../../../proto/mod.ts";
import type { RecordChange } from "../../store/mod.ts";
import { type ChannelRecords, deleteRecord, fieldsOf, putRecord } from "../channel_kinds.ts";

export interface ForeignGeneration {
  readonly generation: number;
  readonly founder: AgentId;
  /** Why it is not followed. */
  readonly reason: string;
}

export function putForeign(
  channelId: ChannelId,
  { generation, founder, reason }: ForeignGeneration,
): RecordChange {
  return putRecord(channelId, "foreign", [generation, founder, reason]);
}

export function deleteForeign(channelId: ChannelId): RecordChange {
  return deleteRecord(channelId, "foreign");
}

export function foreignOf(records: ChannelRecords): ForeignGeneration | undefined {
  const fields = fieldsOf(records, "foreign");
  return fields &&
    { generation: fields.number(0), founder: parseAgentId(fields.text(1)), reason: fields.text(2) };
}
