/**
 * Records of confirmations on disk: the last one that this agent gave, its states of the last epochs, and the
 * statements of others, which are written from time to time.
 */
import { type AgentId, type ChannelId, parseAgentId } from "../../proto/mod.ts";
import { decodeFields, encodeFields, type RecordChange } from "../store/mod.ts";
import { type ChannelStore, confirmedKind, heardKind, liarsKind, statesKind } from "./records.ts";
import type { ConfirmationRecords } from "./upkeep/confirmation_state.ts";
import type { Heard, Said } from "./upkeep/fork_watch.ts";

export const nothingConfirmed: ConfirmationRecords = {
  own: undefined,
  states: new Map(),
  heard: new Map(),
  liars: new Set(),
};

export function putConfirmed(channelId: ChannelId, { epoch, state }: Said): RecordChange {
  return { type: "put", kind: confirmedKind, id: channelId, value: encodeFields([epoch, state]) };
}

export function putState(channelId: ChannelId, epoch: number, state: Uint8Array): RecordChange {
  return { type: "put", kind: statesKind(channelId), id: String(epoch), value: encodeFields([state]) };
}

export function deleteState(channelId: ChannelId, epoch: number): RecordChange {
  return { type: "delete", kind: statesKind(channelId), id: String(epoch) };
}

/** We joined anew: of the group before no state is kept, because it may have been another one. */
export async function replaceStates(
  store: Pick<ChannelStore, "list">,
  channelId: ChannelId,
  { epoch, state }: Said,
): Promise<RecordChange[]> {
  const before = (await store.list(statesKind(channelId))).map(({ id }) => Number(id));
  const over = before.filter((known) => known !== epoch).map((known) => deleteState(channelId, known));
  return [...over, putState(channelId, epoch, state)];
}

export function putLiars(channelId: ChannelId, liars: ReadonlySet<AgentId>): RecordChange {
  return { type: "put", kind: liarsKind, id: channelId, value: encodeFields([[...liars]]) };
}

async function readLiars(store: Pick<ChannelStore, "get">, channelId: ChannelId): Promise<Set<AgentId>> {
  const record = await store.get(liarsKind, channelId);
  const liars = record === undefined ? [] : decodeFields(record, liarsKind).list(0);
  return new Set(liars.map((agentId) => parseAgentId(String(agentId))));
}

export function putHeard(channelId: ChannelId, heard: ReadonlyMap<AgentId, Heard>): RecordChange {
  const rows = Array.from(heard, ([agentId, { confirmed, said, heardMs }]) => [
    agentId,
    confirmed?.epoch ?? null,
    confirmed === undefined ? null : Math.round(confirmed.atMs),
    said?.epoch ?? null,
    said?.state ?? null,
    heardMs === undefined ? null : Math.round(heardMs),
  ]);
  return { type: "put", kind: heardKind, id: channelId, value: encodeFields([rows]) };
}

async function readHeard(store: Pick<ChannelStore, "get">, channelId: ChannelId): Promise<Map<AgentId, Heard>> {
  const record = await store.get(heardKind, channelId);
  const rows = record === undefined ? [] : decodeFields(record, heardKind).rows(0);
  return new Map(rows.map((row) => {
    const [epoch, atMs, saidEpoch] = [row.optionalNumber(1), row.optionalNumber(2), row.optionalNumber(3)];
    const confirmed = epoch === undefined || atMs === undefined ? undefined : { epoch, atMs };
    const said = saidEpoch === undefined ? undefined : { epoch: saidEpoch, state: row.bytes(4) };
    return [parseAgentId(row.text(0)), { confirmed, said, heardMs: row.optionalNumber(5) }];
  }));
}

/** States from before this membership are of another group, perhaps. */
export async function readConfirmations(
  store: Pick<ChannelStore, "get" | "list">,
  channelId: ChannelId,
  joinedEpoch: number,
): Promise<ConfirmationRecords> {
  const kind = statesKind(channelId);
  const stored = (await store.list(kind)).map(({ id, value }): [number, Uint8Array] => [
    Number(id),
    decodeFields(value, kind).bytes(0),
  ]);
  const record = await store.get(confirmedKind, channelId);
  const fields = record && decodeFields(record, confirmedKind);
  const own = fields && { epoch: fields.number(0), state: fields.bytes(1) };
  const states = new Map(stored.filter(([epoch]) => epoch >= joinedEpoch).sort(([a], [b]) => a - b));
  return { own, states, heard: await readHeard(store, channelId), liars: await readLiars(store, channelId) };
}
