/** What is kept on disk of confirmations: the last that this agent gave, and its states of the last epochs. */
import type { ChannelId } from "../../proto/mod.ts";
import { decodeFields, encodeFields, type RecordChange } from "../store/mod.ts";
import { type ChannelStore, confirmedKind, statesKind } from "./records.ts";

export interface OwnConfirmed {
  readonly epoch: number;
  readonly state: Uint8Array;
}

export interface KeptConfirmations {
  readonly own: OwnConfirmed | undefined;
  /** By epoch, ascending. */
  readonly states: ReadonlyMap<number, Uint8Array>;
}

export const nothingConfirmed: KeptConfirmations = { own: undefined, states: new Map() };

export function putConfirmed(channelId: ChannelId, { epoch, state }: OwnConfirmed): RecordChange {
  return { type: "put", kind: confirmedKind, id: channelId, value: encodeFields([epoch, state]) };
}

export function putState(channelId: ChannelId, epoch: number, state: Uint8Array): RecordChange {
  return { type: "put", kind: statesKind(channelId), id: String(epoch), value: encodeFields([state]) };
}

export function deleteState(channelId: ChannelId, epoch: number): RecordChange {
  return { type: "delete", kind: statesKind(channelId), id: String(epoch) };
}

/** States from before this membership are of another group, perhaps. */
export async function readConfirmations(
  store: Pick<ChannelStore, "get" | "list">,
  channelId: ChannelId,
  joinedEpoch: number,
): Promise<KeptConfirmations> {
  const kind = statesKind(channelId);
  const stored = (await store.list(kind)).map(({ id, value }): [number, Uint8Array] => [
    Number(id),
    decodeFields(value, kind).bytes(0),
  ]);
  const states = stored.filter(([epoch]) => epoch >= joinedEpoch).sort(([a], [b]) => a - b);
  const record = await store.get(confirmedKind, channelId);
  const fields = record && decodeFields(record, confirmedKind);
  const own = fields && { epoch: fields.number(0), state: fields.bytes(1) };
  return { own, states: new Map(states) };
}
