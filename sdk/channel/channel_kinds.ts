/**
 * Under which kinds the records of a channel lie. Whatever is needed to open it, besides its MLS
 * state, lies under one: a single scan of the disk shows it all, and what it means is decoded
 * without a wait (`stored_channel.ts`).
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { binaryIdToBytes, type ChannelId } from "../../proto/mod.ts";
import { decodeFields, encodeFields, type RecordChange, type StoredFields } from "../store/mod.ts";

/** The channels that there are: one record each. */
export const channels = "channels";
/** The channels that are being erased; see `erasing.ts`. */
export const erasing = "erasing";

/** Records of one channel, by their ids: one word, and for one of many a name behind a slash. */
export type ChannelRecords = ReadonlyMap<string, Uint8Array>;

export const noRecords: ChannelRecords = new Map();

export function factsKind(channelId: ChannelId): string {
  return `facts-${inBase36(channelId)}`;
}

export function putRecord(
  channelId: ChannelId,
  id: string,
  fields: Parameters<typeof encodeFields>[0],
): RecordChange {
  return { type: "put", kind: factsKind(channelId), id, value: encodeFields(fields) };
}

export function deleteRecord(channelId: ChannelId, id: string): RecordChange {
  return { type: "delete", kind: factsKind(channelId), id };
}

export function fieldsOf(records: ChannelRecords, id: string): StoredFields | undefined {
  const value = records.get(id);
  return value && decodeFields(value, id);
}

/** All of this word, by the names behind the slash. */
export function fieldsUnder(
  records: ChannelRecords,
  word: string,
): readonly (readonly [string, StoredFields])[] {
  const prefix = `${word}/`;
  const found = [...records].filter(([id]) => id.startsWith(prefix));
  return found.map(([id, value]) => [id.slice(prefix.length), decodeFields(value, word)]);
}

/** Commits that can be put back; see `runner/kept_commits.ts`. */
export function commitsKind(channelId: ChannelId): string {
  return `commit-${inBase36(channelId)}`;
}

/** The invites that we gave out for a channel; see `invites/invite_book.ts`. */
export function invitesKind(channelId: ChannelId): string {
  return `inv-${inBase36(channelId)}`;
}

/**
 * Requests of ours that have a key, replies to them, and requests to us that were begun; see
 * `request_records.ts`.
 */
export function askedKind(channelId: ChannelId): string {
  return `asked-${inBase36(channelId)}`;
}

export function repliesKind(channelId: ChannelId): string {
  return `reply-${inBase36(channelId)}`;
}

export function attemptsKind(channelId: ChannelId): string {
  return `run-${inBase36(channelId)}`;
}

/** Durable readers of a host, by name; see `host/server/reader_records.ts`. */
export function readersKind(channelId: ChannelId): string {
  return `read-${inBase36(channelId)}`;
}

/** All kinds of one channel but the one of its MLS state. */
export function kindsOf(channelId: ChannelId): readonly string[] {
  return [factsKind, commitsKind, invitesKind, askedKind, repliesKind, attemptsKind, readersKind]
    .map((kind) => kind(channelId));
}

/** Kinds are lowercase: the id in base 36. */
function inBase36(channelId: ChannelId): string {
  return BigInt(`0x${bytesToHex(binaryIdToBytes(channelId))}`).toString(36);
}
