/**
 * Records of a channel on disk besides its MLS state. They change at different speed: the channel
 * itself (with commits and leavers), the keys of its members, the position in the log, our counter,
 * and one record per sender.
 */
import {
  type AgentId,
  type CborValue,
  type ChannelId,
  type ChannelName,
  type MemberProof,
  parseAgentId,
  parseChannelName,
} from "../../proto/mod.ts";
import {
  decodeFields,
  encodeFields,
  type RecordChange,
  type RecordStore,
  type StoredFields,
} from "../store/mod.ts";
import {
  type ChannelRecords,
  channels,
  deleteRecord,
  erasing,
  factsKind,
  fieldsOf,
  fieldsUnder,
  putRecord,
} from "./channel_kinds.ts";
import type { OrderRecord } from "./order/order_state.ts";
import type { MembershipEnding } from "./reading/endings.ts";
import { ChannelTrust } from "./group/key_changes.ts";
import { type Lineage, type MemberOrigin, noLineage } from "./group/lineage.ts";
import type { SealingLoss } from "./group/post_quantum.ts";
import type { LogPosition, OwnCommit } from "./reading/log_place.ts";

/** The signed statement of a member that leaves. */
export interface LeaveProof extends MemberProof {
  /** SHA-256 of the leaf that it is about. */
  readonly leafHash: Uint8Array;
}

export interface MembershipRecord {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  /** The epoch in which we joined. */
  readonly joinedEpoch: number;
  /**
   * How members came in, of those that came after us, and which of their doors were struck; see
   * `lineage.ts`.
   */
  readonly since: Lineage["since"];
  readonly struck: Lineage["struck"];
  /** Members that have signed that they leave, until a commit removes them. */
  readonly leavers: ReadonlyMap<AgentId, LeaveProof>;
  /** Members that the relay has given up, until a commit removes them. */
  readonly lapsed: ReadonlySet<AgentId>;
  /**
   * The epoch before which we do not know who came and went: our joining, or the last removal that
   * was forgotten.
   */
  readonly knownFrom: number;
  /** The epochs that the latest removals began, oldest first. */
  readonly removals: ReadonlyMap<AgentId, number>;
  /**
   * The same of removals against an agent's will, the latest of each agent: they end the invites by
   * which it came.
   */
  readonly expelled: ReadonlyMap<AgentId, number>;
  /** We came back into it: then our leaf is renewed once, so that it names its group. */
  readonly rejoined: boolean;
  /** SHA-256 of the leaf with which we joined. */
  readonly joinedLeaf: Uint8Array;
  /** How the channel ceased to be sealed, the last time that this agent knows of. */
  readonly loss: SealingLoss | undefined;
}

export interface RecordStart
  extends Pick<MembershipRecord, "channelId" | "name" | "joinedEpoch" | "joinedLeaf" | "rejoined"> {
  /** Agents that were removed as far as this agent knows from a membership before. */
  readonly removed?: Iterable<AgentId>;
  /** The rest that goes on from that. */
  readonly known?: FormerKnowledge;
}

/** The parts of a record that go on when this agent comes back into its channel. */
export type FormerKnowledge = Pick<MembershipRecord, "since" | "struck" | "expelled" | "loss">;

/** A membership that begins now. */
export function newChannelRecord(
  { removed = [], known, ...beginning }: RecordStart,
): MembershipRecord {
  const { joinedEpoch } = beginning;
  const { since, struck, expelled, loss } = known ??
    { ...noLineage, expelled: new Map(), loss: undefined };
  const removals = new Map(Array.from(removed, (agentId) => [agentId, joinedEpoch]));
  return {
    ...beginning,
    since,
    struck,
    leavers: new Map(),
    lapsed: new Set(),
    knownFrom: joinedEpoch,
    removals,
    expelled,
    loss,
  };
}

export type ChannelStore = Pick<RecordStore, "get" | "put" | "list" | "batch" | "clear" | "failed">;

export function putChannel(record: MembershipRecord): RecordChange {
  const value = encodeFields([
    record.name,
    record.joinedEpoch,
    // Null is for the usual case.
    [...record.since].map(([agentId, { epoch, atMs, through, root }]) => {
      return [agentId, epoch, atMs, through ?? null, root === agentId ? null : root];
    }),
    [...record.leavers.values()].map((
      { agentId, leafHash, signature },
    ) => [agentId, leafHash, signature]),
    [...record.lapsed],
    record.knownFrom,
    [...record.removals].map(([agentId, epoch]) => [agentId, epoch]),
    record.rejoined,
    record.joinedLeaf,
    [...record.expelled].map(([agentId, epoch]) => [agentId, epoch]),
    [...record.struck].map(([root, atMs]) => [root, atMs]),
    record.loss === undefined ? [] : [lossRow(record.loss)],
  ]);
  return { type: "put", kind: channels, id: record.channelId, value };
}

/** Reads a record of kind `channels`. */
export function channelOf(channelId: ChannelId, value: Uint8Array): MembershipRecord {
  const fields = decodeFields(value, channels);
  const leavers = fields.rows(3).map((row): LeaveProof => ({
    agentId: parseAgentId(row.text(0)),
    leafHash: row.bytes(1),
    signature: row.bytes(2),
  }));
  return {
    channelId,
    name: parseChannelName(fields.text(0)),
    joinedEpoch: fields.number(1),
    since: new Map(fields.rows(2).map((row) => cameOf(row))),
    leavers: new Map(leavers.map((leaver) => [leaver.agentId, leaver])),
    lapsed: new Set(fields.list(4).map((agentId) => parseAgentId(String(agentId)))),
    knownFrom: fields.number(5),
    removals: new Map(fields.rows(6).map((row) => [parseAgentId(row.text(0)), row.number(1)])),
    rejoined: fields.flag(7),
    joinedLeaf: fields.bytes(8),
    expelled: new Map(fields.rows(9).map((row) => [parseAgentId(row.text(0)), row.number(1)])),
    struck: new Map(fields.rows(10).map((row) => [row.text(0), row.number(1)])),
    loss: fields.rows(11).map(lossOf)[0],
  };
}

function lossRow({ since, until, latest, learnedMs, by, because }: SealingLoss): CborValue[] {
  return [since, until, latest, learnedMs, by ?? null, because ?? null];
}

function lossOf(row: StoredFields): SealingLoss {
  const agent = (at: number): AgentId | undefined =>
    row.isNull(at) ? undefined : parseAgentId(row.text(at));
  return {
    since: row.number(0),
    until: row.number(1),
    latest: row.number(2),
    learnedMs: row.number(3),
    by: agent(4),
    because: agent(5),
  };
}

function cameOf(row: StoredFields): [AgentId, MemberOrigin] {
  const agentId = parseAgentId(row.text(0));
  const through = row.isNull(3) ? {} : { through: parseAgentId(row.text(3)) };
  const root = row.isNull(4) ? agentId : row.text(4);
  return [agentId, { epoch: row.number(1), atMs: row.number(2), ...through, root }];
}

export function putTrust(
  channelId: ChannelId,
  { keys, doubtful }: Pick<ChannelTrust, "keys" | "doubtful">,
): RecordChange {
  const rows = Array.from(keys, ({ identity, signatureKey }) => [identity, signatureKey]);
  return putRecord(channelId, "trust", [rows, [...doubtful]]);
}

export function trustOf(records: ChannelRecords): ChannelTrust {
  const fields = fieldsOf(records, "trust");
  if (fields === undefined) return new ChannelTrust([]);
  const keys = fields.rows(0).map((row) => ({
    identity: row.bytes(0),
    signatureKey: row.bytes(1),
  }));
  return new ChannelTrust(keys, fields.list(1).map((agentId) => parseAgentId(String(agentId))));
}

/** The last entry of the log that the application is done with, and the log's epoch behind it. */
export function putPosition(channelId: ChannelId, { sequence, epoch }: LogPosition): RecordChange {
  return putRecord(channelId, "position", [sequence, epoch ?? null]);
}

export function deletePosition(channelId: ChannelId): RecordChange {
  return deleteRecord(channelId, "position");
}

export function positionOf(records: ChannelRecords): LogPosition | undefined {
  const fields = fieldsOf(records, "position");
  return fields && { sequence: fields.number(0), epoch: fields.optionalNumber(1) };
}

/** The order of the log as far as the position that is written with it; see `order/`. */
export function putOrder(channelId: ChannelId, record: OrderRecord): RecordChange {
  const { sequence, epoch, count, hash, before, unsureThrough, isOpen, own } = record;
  return putRecord(channelId, "order", [
    ...[sequence, epoch, count, hash, before ?? null, unsureThrough, isOpen],
    own.map((entry) => [entry.sequence, entry.epoch, entry.digest ?? null]),
  ]);
}

export function orderOf(records: ChannelRecords): OrderRecord | undefined {
  const fields = fieldsOf(records, "order");
  return fields && {
    sequence: fields.number(0),
    epoch: fields.number(1),
    count: fields.number(2),
    hash: fields.bytes(3),
    before: fields.isNull(4) ? undefined : fields.bytes(4),
    unsureThrough: fields.number(5),
    isOpen: fields.flag(6),
    own: fields.rows(7).map((row) => ({
      sequence: row.number(0),
      epoch: row.number(1),
      digest: row.isNull(2) ? undefined : row.bytes(2),
    })),
  };
}

/**
 * Which log the position is of; see `relay/core/channel/log_id.ts`. To be written in one with it.
 */
export function putLog(channelId: ChannelId, log: Uint8Array): RecordChange {
  return putRecord(channelId, "log", [log]);
}

/** Undefined until the relay was first asked. */
export function logOf(records: ChannelRecords): Uint8Array | undefined {
  return fieldsOf(records, "log")?.bytes(0);
}

/** Facts about commits that are needed to read the log again; see `reading/`. */
export interface Landmarks {
  readonly ownCommits: readonly OwnCommit[];
  readonly endings: readonly MembershipEnding[];
}

export const noLandmarks: Landmarks = { ownCommits: [], endings: [] };

export function putLandmarks(
  channelId: ChannelId,
  { ownCommits, endings }: Landmarks,
): RecordChange {
  return putRecord(channelId, "landmarks", [
    ownCommits.map(({ sequence, epoch, hash }) => [sequence, epoch, hash]),
    endings.map(({ agentId, epoch, sequence, last }) => [agentId, epoch, sequence, last ?? null]),
  ]);
}

export function landmarksOf(records: ChannelRecords): Landmarks {
  const fields = fieldsOf(records, "landmarks");
  if (fields === undefined) return noLandmarks;
  return {
    ownCommits: fields.rows(0).map((row) => ({
      sequence: row.number(0),
      epoch: row.number(1),
      hash: row.bytes(2),
    })),
    endings: fields.rows(1).map((row) => ({
      agentId: parseAgentId(row.text(0)),
      epoch: row.number(1),
      sequence: row.number(2),
      last: row.optionalNumber(3),
    })),
  };
}

/** See `counters.ts`. */
export interface CounterRecord {
  /** The highest that may have been used. */
  readonly reserved: number;
  /** Every one up to here was sent, or is known by the others to be gone. */
  readonly known: number;
}

export const noCounters: CounterRecord = { reserved: 0, known: 0 };

export function putCounters(
  channelId: ChannelId,
  { reserved, known }: CounterRecord,
): RecordChange {
  return putRecord(channelId, "counters", [reserved, known]);
}

export function countersOf(records: ChannelRecords): CounterRecord {
  const fields = fieldsOf(records, "counters");
  return fields === undefined
    ? noCounters
    : { reserved: fields.number(0), known: fields.number(1) };
}

/** Messages that arrived from a sender; see `senders.ts`. */
export interface SenderRecord {
  /** The epoch in which its membership began; 0 when that was before ours. */
  readonly since: number;
  readonly highest: number;
  readonly missing: readonly { readonly first: number; readonly last: number }[];
}

/**
 * How to write what arrived of a sender. Made once for a channel: it happens with every message.
 */
export function senderWriter(
  channelId: ChannelId,
): (agentId: AgentId, record: SenderRecord) => RecordChange {
  const kind = factsKind(channelId);
  return (agentId, { since, highest, missing }) => {
    const value = encodeFields([highest, missing.map(({ first, last }) => [first, last]), since]);
    return { type: "put", kind, id: `from/${agentId}`, value };
  };
}

export function sendersOf(records: ChannelRecords): Map<AgentId, SenderRecord> {
  return new Map(
    fieldsUnder(records, "from").map(([name, fields]) => {
      const missing = fields.rows(1).map((row) => ({ first: row.number(0), last: row.number(1) }));
      return [parseAgentId(name), { since: fields.number(2), highest: fields.number(0), missing }];
    }),
  );
}

/** We joined anew: what arrived before says nothing about what comes. */
export function forgetSenders(channelId: ChannelId, records: ChannelRecords): RecordChange[] {
  return fieldsUnder(records, "from").map(([name]) => deleteRecord(channelId, `from/${name}`));
}

/** Deletes the record of a sender that is gone: should it come back, it counts anew. */
export function deleteSender(channelId: ChannelId, agentId: AgentId): RecordChange {
  return deleteRecord(channelId, `from/${agentId}`);
}

/** The record of the channel itself, and the note that it is being erased. */
export function deleteChannel(channelId: ChannelId): RecordChange[] {
  return [{ type: "delete", kind: channels, id: channelId }, endErasing(channelId)];
}

/** Withdraws the note. */
export function endErasing(channelId: ChannelId): RecordChange {
  return { type: "delete", kind: erasing, id: channelId };
}
