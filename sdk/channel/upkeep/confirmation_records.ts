/**
 * Records of confirmations on disk: the last one that this agent gave, its states of the last
 * epochs, and the statements of others, which are written from time to time, once they are
 * verified.
 */
import { type AgentId, type ChannelId, parseAgentId } from "../../../proto/mod.ts";
import type { RecordChange } from "../../store/mod.ts";
import {
  type ChannelRecords,
  deleteRecord,
  fieldsOf,
  fieldsUnder,
  putRecord,
} from "../channel_kinds.ts";
import type { ConfirmationRecords } from "./confirmation_state.ts";
import type { EpochBeginning, EpochWord, LastStatement } from "./fork_watch.ts";

export function putConfirmed(channelId: ChannelId, { epoch, state }: EpochWord): RecordChange {
  return putRecord(channelId, "confirmed", [epoch, state]);
}

export function putState(channelId: ChannelId, epoch: number, state: Uint8Array): RecordChange {
  return putRecord(channelId, `state/${epoch}`, [state]);
}

export function deleteState(channelId: ChannelId, epoch: number): RecordChange {
  return deleteRecord(channelId, `state/${epoch}`);
}

/**
 * Returns the record of the latest epoch's beginning. A restart does not make its statements look
 * newer than they are.
 */
export function putBegun(channelId: ChannelId, { epoch, atMs }: EpochBeginning): RecordChange {
  return putRecord(channelId, "begun", [epoch, Math.round(atMs)]);
}

function begunOf(records: ChannelRecords): EpochBeginning | undefined {
  const fields = fieldsOf(records, "begun");
  return fields && { epoch: fields.number(0), atMs: fields.number(1) };
}

/** We joined anew: of the group before no state is kept, because it may have been another one. */
export function replaceStates(
  channelId: ChannelId,
  records: ChannelRecords,
  { epoch, state }: EpochWord,
): RecordChange[] {
  const before = fieldsUnder(records, "state").map(([name]) => Number(name));
  const over = before.filter((known) => known !== epoch).map((known) =>
    deleteState(channelId, known)
  );
  return [...over, putState(channelId, epoch, state)];
}

export function putLiars(channelId: ChannelId, liars: ReadonlySet<AgentId>): RecordChange {
  return putRecord(channelId, "liars", [[...liars]]);
}

function liarsOf(records: ChannelRecords): Set<AgentId> {
  const liars = fieldsOf(records, "liars")?.list(0) ?? [];
  return new Set(liars.map((agentId) => parseAgentId(String(agentId))));
}

/** A reader of the disk need not learn to the second when others were at work. */
const minuteMs = 60_000;

export function putHeard(
  channelId: ChannelId,
  heard: ReadonlyMap<AgentId, LastStatement>,
): RecordChange {
  const rows = Array.from(heard, ([agentId, { confirmed, said, heardMs }]) => [
    agentId,
    confirmed?.epoch ?? null,
    confirmed === undefined ? null : Math.round(confirmed.atMs),
    said?.epoch ?? null,
    said?.state ?? null,
    heardMs === undefined ? null : Math.floor(heardMs / minuteMs) * minuteMs,
  ]);
  return putRecord(channelId, "heard", [rows]);
}

function heardOf(records: ChannelRecords): Map<AgentId, LastStatement> {
  const rows = fieldsOf(records, "heard")?.rows(0) ?? [];
  return new Map(rows.map((row) => {
    const [epoch, atMs, saidEpoch] = [
      row.optionalNumber(1),
      row.optionalNumber(2),
      row.optionalNumber(3),
    ];
    const confirmed = epoch === undefined || atMs === undefined ? undefined : { epoch, atMs };
    const said = saidEpoch === undefined ? undefined : { epoch: saidEpoch, state: row.bytes(4) };
    return [parseAgentId(row.text(0)), { confirmed, said, heardMs: row.optionalNumber(5) }];
  }));
}

/** States from before this membership are of another group, perhaps. */
export function confirmationsOf(records: ChannelRecords, joinedEpoch: number): ConfirmationRecords {
  const stored = fieldsUnder(records, "state").map(([name, fields]) =>
    [Number(name), fields.bytes(0)] as const
  );
  const fields = fieldsOf(records, "confirmed");
  const own = fields && { epoch: fields.number(0), state: fields.bytes(1) };
  const states = new Map(
    stored.filter(([epoch]) => epoch >= joinedEpoch).sort(([a], [b]) => a - b),
  );
  return {
    own,
    states,
    heard: heardOf(records),
    liars: liarsOf(records),
    begun: begunOf(records),
  };
}
