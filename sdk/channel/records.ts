/**
 * Records of a channel on disk besides its MLS state. They change at different speed: the channel itself (with commits
 * and leavers), the keys of its members, the position in the log, our counter, and one record per sender.
 */
import {
  type AgentId,
  binaryIdToBytes,
  type ChannelId,
  type ChannelName,
  type MemberProof,
  parseAgentId,
  parseChannelId,
  parseChannelName,
} from "../../proto/mod.ts";
import { bytesToHex } from "@noble/hashes/utils.js";
import { decodeFields, encodeFields, type RecordChange, type RecordStore, type StoredFields } from "../store/mod.ts";
import type { Ending } from "./reading/endings.ts";
import { ChannelTrust } from "./key_changes.ts";
import { type Came, type Lineage, noLineage } from "./lineage.ts";
import type { LogPosition, OwnCommit } from "./reading/log_place.ts";

const [channels, trust, positions, logs, counters, landmarks] = [
  "channels",
  "trust",
  "positions",
  "logs",
  "counters",
  "landmarks",
] as const;
/** See `anchor.ts`. */
export const anchors = "anchors";
/** See `confirmation_records.ts`. */
export const [confirmedKind, heardKind, liarsKind] = ["confirmed", "heard", "liars"] as const;
/** See `bad_commit.ts`. */
export const [stopped, returned] = ["stopped", "returned"] as const;
/** See `foreign_generation.ts`. */
export const foreign = "foreign";
/** See `erasing.ts`. */
export const erasing = "erasing";

/** In one write to the store. */
const maxDeletions = 1000;

/** The signed statement of a member that leaves. */
export interface LeaveProof extends MemberProof {
  /** SHA-256 of the leaf that it is about. */
  readonly leafHash: Uint8Array;
}

export interface ChannelRecord {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  /** The epoch in which we joined. */
  readonly joinedEpoch: number;
  /** How members came in, of those that came after us, and which of their doors were struck; see `lineage.ts`. */
  readonly since: Lineage["since"];
  readonly struck: Lineage["struck"];
  /** Members that have signed that they leave, until a commit removes them. */
  readonly leavers: ReadonlyMap<AgentId, LeaveProof>;
  /** Members that the relay has given up, until a commit removes them. */
  readonly lapsed: ReadonlySet<AgentId>;
  /** The epoch before which we do not know who came and went: our joining, or the last removal that was forgotten. */
  readonly knownFrom: number;
  /** The epochs that the latest removals began, oldest first. */
  readonly removals: ReadonlyMap<AgentId, number>;
  /** The same of removals against an agent's will, the latest of each agent: they end the invites by which it came. */
  readonly expelled: ReadonlyMap<AgentId, number>;
  /** We came back into it: then our leaf is renewed once, so that it names its group. */
  readonly rejoined: boolean;
  /** SHA-256 of the leaf with which we joined. */
  readonly joinedLeaf: Uint8Array;
}

export interface Beginning
  extends Pick<ChannelRecord, "channelId" | "name" | "joinedEpoch" | "joinedLeaf" | "rejoined"> {
  /** Agents that were removed as far as this agent knows from a membership before. */
  readonly removed?: Iterable<AgentId>;
  /** The rest that goes on from that. */
  readonly known?: KnownBefore;
}

/** Of a record, what goes on when this agent comes back into its channel. */
export type KnownBefore = Pick<ChannelRecord, "since" | "struck" | "expelled">;

/** A membership that begins now. */
export function newChannelRecord({ removed = [], known, ...beginning }: Beginning): ChannelRecord {
  const { joinedEpoch } = beginning;
  const { since, struck, expelled } = known ?? { ...noLineage, expelled: new Map() };
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
  };
}

export type ChannelStore = Pick<RecordStore, "get" | "put" | "list" | "batch" | "failed">;

export function putChannel(record: ChannelRecord): RecordChange {
  const value = encodeFields([
    record.name,
    record.joinedEpoch,
    // Null is for the usual case.
    [...record.since].map(([agentId, { epoch, atMs, through, root }]) => {
      return [agentId, epoch, atMs, through ?? null, root === agentId ? null : root];
    }),
    [...record.leavers.values()].map(({ agentId, leafHash, signature }) => [agentId, leafHash, signature]),
    [...record.lapsed],
    record.knownFrom,
    [...record.removals].map(([agentId, epoch]) => [agentId, epoch]),
    record.rejoined,
    record.joinedLeaf,
    [...record.expelled].map(([agentId, epoch]) => [agentId, epoch]),
    [...record.struck].map(([root, atMs]) => [root, atMs]),
  ]);
  return { type: "put", kind: channels, id: record.channelId, value };
}

export async function listChannels(store: Pick<ChannelStore, "list">): Promise<ChannelRecord[]> {
  return (await store.list(channels)).map(({ id, value }) => channelOf(parseChannelId(id), value));
}

export async function readChannel(
  store: Pick<ChannelStore, "get">,
  channelId: ChannelId,
): Promise<ChannelRecord | undefined> {
  const value = await store.get(channels, channelId);
  return value && channelOf(channelId, value);
}

function channelOf(channelId: ChannelId, value: Uint8Array): ChannelRecord {
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
  };
}

function cameOf(row: StoredFields): [AgentId, Came] {
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
  return { type: "put", kind: trust, id: channelId, value: encodeFields([rows, [...doubtful]]) };
}

export async function readTrust(store: Pick<ChannelStore, "get">, channelId: ChannelId): Promise<ChannelTrust> {
  const record = await store.get(trust, channelId);
  if (record === undefined) return new ChannelTrust([]);
  const fields = decodeFields(record, trust);
  const keys = fields.rows(0).map((row) => ({ identity: row.bytes(0), signatureKey: row.bytes(1) }));
  return new ChannelTrust(keys, fields.list(1).map((agentId) => parseAgentId(String(agentId))));
}

/** The last entry of the log that the application is done with, and the log's epoch behind it. */
export function putPosition(channelId: ChannelId, { sequence, epoch }: LogPosition): RecordChange {
  return { type: "put", kind: positions, id: channelId, value: encodeFields([sequence, epoch ?? null]) };
}

export function deletePosition(channelId: ChannelId): RecordChange {
  return { type: "delete", kind: positions, id: channelId };
}

export async function readPosition(
  store: Pick<ChannelStore, "get">,
  channelId: ChannelId,
): Promise<LogPosition | undefined> {
  const record = await store.get(positions, channelId);
  if (record === undefined) return undefined;
  const fields = decodeFields(record, positions);
  return { sequence: fields.number(0), epoch: fields.optionalNumber(1) };
}

/** Which log the position is of; see `relay/core/log_id.ts`. To be written in one with it. */
export function putLog(channelId: ChannelId, log: Uint8Array): RecordChange {
  return { type: "put", kind: logs, id: channelId, value: encodeFields([log]) };
}

/** Undefined until the relay was first asked. */
export async function readLog(store: Pick<ChannelStore, "get">, channelId: ChannelId): Promise<Uint8Array | undefined> {
  const record = await store.get(logs, channelId);
  return record === undefined ? undefined : decodeFields(record, logs).bytes(0);
}

/** Facts about commits that are needed to read the log again; see `reading/`. */
export interface Landmarks {
  readonly ownCommits: readonly OwnCommit[];
  readonly endings: readonly Ending[];
}

export const noLandmarks: Landmarks = { ownCommits: [], endings: [] };

export function putLandmarks(channelId: ChannelId, { ownCommits, endings }: Landmarks): RecordChange {
  const value = encodeFields([
    ownCommits.map(({ sequence, epoch, hash }) => [sequence, epoch, hash]),
    endings.map(({ agentId, epoch, sequence, last }) => [agentId, epoch, sequence, last ?? null]),
  ]);
  return { type: "put", kind: landmarks, id: channelId, value };
}

export async function readLandmarks(store: Pick<ChannelStore, "get">, channelId: ChannelId): Promise<Landmarks> {
  const record = await store.get(landmarks, channelId);
  if (record === undefined) return noLandmarks;
  const fields = decodeFields(record, landmarks);
  return {
    ownCommits: fields.rows(0).map((row) => ({ sequence: row.number(0), epoch: row.number(1), hash: row.bytes(2) })),
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

export function putCounters(channelId: ChannelId, { reserved, known }: CounterRecord): RecordChange {
  return { type: "put", kind: counters, id: channelId, value: encodeFields([reserved, known]) };
}

export async function readCounters(store: Pick<ChannelStore, "get">, channelId: ChannelId): Promise<CounterRecord> {
  const record = await store.get(counters, channelId);
  if (record === undefined) return noCounters;
  const fields = decodeFields(record, counters);
  return { reserved: fields.number(0), known: fields.number(1) };
}

/** Messages that arrived from a sender; see `senders.ts`. */
export interface SenderRecord {
  /** The epoch in which its membership began; 0 when that was before ours. */
  readonly since: number;
  readonly highest: number;
  readonly missing: readonly { readonly first: number; readonly last: number }[];
}

/** How to write what arrived of a sender. Made once for a channel: it happens with every message. */
export function senderWriter(channelId: ChannelId): (agentId: AgentId, record: SenderRecord) => RecordChange {
  const kind = sendersKind(channelId);
  return (id, { since, highest, missing }) => {
    const value = encodeFields([highest, missing.map(({ first, last }) => [first, last]), since]);
    return { type: "put", kind, id, value };
  };
}

export async function listSenders(
  store: Pick<ChannelStore, "list">,
  channelId: ChannelId,
): Promise<Map<AgentId, SenderRecord>> {
  const kind = sendersKind(channelId);
  return new Map((await store.list(kind)).map(({ id, value }) => {
    const fields = decodeFields(value, kind);
    const missing = fields.rows(1).map((row) => ({ first: row.number(0), last: row.number(1) }));
    return [parseAgentId(id), { since: fields.number(2), highest: fields.number(0), missing }];
  }));
}

/** We joined anew: what arrived before says nothing about what comes. */
export async function forgetSenders(store: Pick<ChannelStore, "list">, channelId: ChannelId): Promise<RecordChange[]> {
  const kind = sendersKind(channelId);
  return (await store.list(kind)).map(({ id }): RecordChange => ({ type: "delete", kind, id }));
}

/** Of somebody that is gone: should it come back, it counts anew. */
export function deleteSender(channelId: ChannelId, agentId: AgentId): RecordChange {
  return { type: "delete", kind: sendersKind(channelId), id: agentId };
}

/**
 * Deletes everything of a channel but its MLS state, which erases itself. An agent that comes back later makes new
 * invites. Its record goes last, with the note that it is being erased: as long as one is there, so is the other.
 */
export async function forgetChannel(store: Pick<ChannelStore, "list" | "batch">, channelId: ChannelId): Promise<void> {
  const ofChannel = (kind: string): RecordChange => ({ type: "delete", kind, id: channelId });
  const senders = await forgetSenders(store, channelId);
  const states = [stopped, returned, foreign, positions, logs, counters, landmarks, anchors, confirmedKind];
  const own = [trust, heardKind, liarsKind, ...states].map(ofChannel);
  const listed = [commitsKind, invitesKind, askedKind, repliesKind, attemptsKind, readersKind, statesKind, keysKind];
  const lists = listed.map(async (kindOf) => {
    const kind = kindOf(channelId);
    return (await store.list(kind)).map(({ id }): RecordChange => ({ type: "delete", kind, id }));
  });
  const all = [...own, ...(await Promise.all(lists)).flat(), ...senders];
  await deleteAll(store, all);
  await store.batch(deleteChannel(channelId));
}

/** The record of the channel itself, and the note that it is being erased. */
export function deleteChannel(channelId: ChannelId): RecordChange[] {
  return [channels, erasing].map((kind) => ({ type: "delete", kind, id: channelId }));
}

/** In several writes, when they are many. */
export async function deleteAll(
  store: Pick<ChannelStore, "batch">,
  deletions: readonly RecordChange[],
): Promise<void> {
  for (let at = 0; at < deletions.length; at += maxDeletions) await store.batch(deletions.slice(at, at + maxDeletions));
}

/** Kinds of their own for each channel, so that opening one reads no other. Kinds are lowercase: the id in base 36. */
function sendersKind(channelId: ChannelId): string {
  return `from-${inBase36(channelId)}`;
}

/** Commits that can be put back; see `kept_commits.ts`. */
export function commitsKind(channelId: ChannelId): string {
  return `commit-${inBase36(channelId)}`;
}

/** The invites that we gave out for a channel; see `invites/invite_book.ts`. */
export function invitesKind(channelId: ChannelId): string {
  return `inv-${inBase36(channelId)}`;
}

/** Requests of ours that have a key, replies to them, and requests to us that were begun; see `request_records.ts`. */
export function askedKind(channelId: ChannelId): string {
  return `asked-${inBase36(channelId)}`;
}

export function repliesKind(channelId: ChannelId): string {
  return `reply-${inBase36(channelId)}`;
}

export function attemptsKind(channelId: ChannelId): string {
  return `run-${inBase36(channelId)}`;
}

/** Durable readers of a host, by name; see `driver/reader_records.ts`. */
export function readersKind(channelId: ChannelId): string {
  return `read-${inBase36(channelId)}`;
}

/** Our states of the last epochs; see `confirmation_records.ts`. */
export function statesKind(channelId: ChannelId): string {
  return `state-${inBase36(channelId)}`;
}

/** Since when members have their keys; see `key_ages.ts`. */
export function keysKind(channelId: ChannelId): string {
  return `keys-${inBase36(channelId)}`;
}

function inBase36(channelId: ChannelId): string {
  return BigInt(`0x${bytesToHex(binaryIdToBytes(channelId))}`).toString(36);
}
