/**
 * What a channel keeps so that an agent can tell whether its store is older than what it did: where its membership began, and
 * commits of its own that it gave up without knowing their fate. And when it last had to doubt its store without a proof.
 */
import { type ChannelId, equalBytes } from "../../proto/mod.ts";
import type { PreparedCommit } from "../mls/group.ts";
import { decodeFields, encodeFields, type RecordChange } from "../store/mod.ts";
import { anchors, type ChannelStore } from "./records.ts";

export interface Anchor {
  /** The entry that added us; undefined until the relay was first asked. */
  readonly joinedSequence: number | undefined;
  /** Commits that the relay may still take, though this agent has given them up. The newest last. */
  readonly discarded: readonly { readonly epoch: number; readonly hash: Uint8Array }[];
  /** When a store was in doubt and nothing was proven. */
  readonly unprovenMs: readonly number[];
}

/** A relay that takes none of them makes room for no more; those of epochs that are over go first. */
const maxDiscarded = 16;

export function newAnchor(joinedSequence: number | undefined, unprovenMs: readonly number[] = []): Anchor {
  return { joinedSequence, discarded: [], unprovenMs };
}

export function withDiscarded(anchor: Anchor, { epoch, hash }: Pick<PreparedCommit, "epoch" | "hash">): Anchor {
  const live = anchor.discarded.filter((known) => known.epoch >= epoch);
  return { ...anchor, discarded: [...live, { epoch, hash }].slice(-maxDiscarded) };
}

export function isDiscarded({ discarded }: Anchor, hash: Uint8Array): boolean {
  return discarded.some((known) => equalBytes(known.hash, hash));
}

export function putAnchor(channelId: ChannelId, { joinedSequence, discarded, unprovenMs }: Anchor): RecordChange {
  const rows = discarded.map(({ epoch, hash }) => [epoch, hash]);
  const value = encodeFields([joinedSequence ?? null, rows, [...unprovenMs]]);
  return { type: "put", kind: anchors, id: channelId, value };
}

/** A store from before it was kept has none: the relay is asked, and believed once. */
export async function readAnchor(store: Pick<ChannelStore, "get">, channelId: ChannelId): Promise<Anchor> {
  const record = await store.get(anchors, channelId);
  if (record === undefined) return newAnchor(undefined);
  const fields = decodeFields(record, anchors);
  return {
    joinedSequence: fields.optionalNumber(0),
    discarded: fields.rows(1).map((row) => ({ epoch: row.number(0), hash: row.bytes(1) })),
    unprovenMs: fields.list(2).map(Number),
  };
}
