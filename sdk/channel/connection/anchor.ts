/**
 * Records of a channel that show whether the agent's store is older than its actions: the start of
 * its membership, and own commits that were given up with unknown outcome. Also the times of its
 * last ways back into the channel.
 */
import { type ChannelId, equalBytes } from "../../../proto/mod.ts";
import type { PreparedCommit } from "../../mls/group.ts";
import type { RecordChange } from "../../store/mod.ts";
import { type ChannelRecords, fieldsOf, putRecord } from "../channel_kinds.ts";

export interface Anchor {
  /** The entry that added us; undefined until the relay was first asked. */
  readonly joinedSequence: number | undefined;
  /**
   * Commits that the relay may still take, though this agent has given them up. The newest last.
   */
  readonly discarded: readonly { readonly epoch: number; readonly hash: Uint8Array }[];
  /** When this agent began to join anew, the latest last: see `recovery/way_back.ts`. */
  readonly cameBackMs: readonly number[];
  /**
   * The latest epoch of earlier memberships: commits up to there may be ours, whatever the log says
   * today.
   */
  readonly formerEpoch: number;
}

/**
 * A relay that takes none of them makes room for no more; those of epochs that are over go first.
 */
const maxDiscarded = 16;

export function newAnchor(
  joinedSequence: number | undefined,
  { cameBackMs = [], formerEpoch = 0 }: Partial<Pick<Anchor, "cameBackMs" | "formerEpoch">> = {},
): Anchor {
  return { joinedSequence, discarded: [], cameBackMs, formerEpoch };
}

export function withDiscarded(
  anchor: Anchor,
  { epoch, hash }: Pick<PreparedCommit, "epoch" | "hash">,
): Anchor {
  const live = anchor.discarded.filter((known) => known.epoch >= epoch);
  return { ...anchor, discarded: [...live, { epoch, hash }].slice(-maxDiscarded) };
}

export function isDiscarded({ discarded }: Anchor, hash: Uint8Array): boolean {
  return discarded.some((known) => equalBytes(known.hash, hash));
}

export function putAnchor(channelId: ChannelId, anchor: Anchor): RecordChange {
  const { joinedSequence, discarded, cameBackMs, formerEpoch } = anchor;
  const rows = discarded.map(({ epoch, hash }) => [epoch, hash]);
  return putRecord(channelId, "anchor", [
    joinedSequence ?? null,
    rows,
    [...cameBackMs],
    formerEpoch,
  ]);
}

/** Before the first membership there is none. */
export function anchorOf(records: ChannelRecords): Anchor {
  const fields = fieldsOf(records, "anchor");
  if (fields === undefined) return newAnchor(undefined);
  return {
    joinedSequence: fields.optionalNumber(0),
    discarded: fields.rows(1).map((row) => ({ epoch: row.number(0), hash: row.bytes(1) })),
    cameBackMs: fields.list(2).map(Number),
    formerEpoch: fields.number(3),
  };
}
