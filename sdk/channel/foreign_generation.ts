/** A generation of the channel that this agent does not follow, because it does not follow from what it knows. Durable. */
import { type AgentId, type ChannelId, parseAgentId } from "../../proto/mod.ts";
import { decodeFields, encodeFields, type RecordChange } from "../store/mod.ts";
import { type ChannelStore, foreign } from "./records.ts";

export interface ForeignGeneration {
  readonly generation: number;
  readonly founder: AgentId;
  /** Why it is not followed. */
  readonly reason: string;
}

export function putForeign(channelId: ChannelId, { generation, founder, reason }: ForeignGeneration): RecordChange {
  return { type: "put", kind: foreign, id: channelId, value: encodeFields([generation, founder, reason]) };
}

export function deleteForeign(channelId: ChannelId): RecordChange {
  return { type: "delete", kind: foreign, id: channelId };
}

export async function readForeign(
  store: Pick<ChannelStore, "get">,
  channelId: ChannelId,
): Promise<ForeignGeneration | undefined> {
  const record = await store.get(foreign, channelId);
  if (record === undefined) return undefined;
  const fields = decodeFields(record, foreign);
  return { generation: fields.number(0), founder: parseAgentId(fields.text(1)), reason: fields.text(2) };
}
