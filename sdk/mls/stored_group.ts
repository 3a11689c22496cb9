/**
 * A group's records on disk: their names, and how they become a group again. Earlier epochs are
 * read when they are needed; each waits with its own records alone, so that what was read and used
 * elsewhere is not kept in memory by another.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { binaryIdToBytes, type ChannelId, type OwnersChange } from "../../proto/mod.ts";
import type { LoadedRecord } from "../store/mod.ts";
import type { MembershipEntry } from "./admissions.ts";
import { decodeBinding } from "./channel_extensions.ts";
import { MlsFault } from "./codec.ts";
import type { Epoch } from "./epoch.ts";
import type { ParentEpoch, PreparedCommit, Proposals } from "./group.ts";
import { type LoadPastEpoch, PastEpochs } from "./past_epochs.ts";
import { Roster } from "./roster.ts";
import { isChainOf } from "./owners_chain.ts";
import { versionIn } from "./owners_rules.ts";
import {
  decodeCandidate,
  decodeChanges,
  decodeEntry,
  decodeEpoch,
  decodeFounding,
  decodeParent,
  decodePastEpoch,
  decodeProposalFrom,
  type FoundingCandidate,
  restoreSecretTree,
} from "./state_codec.ts";

type EpochId = { readonly context: { readonly epoch: bigint } };
type StoredRatchet = readonly [leafIndex: number, ratchets: Uint8Array];

/**
 * A kind of its own for each channel, so that loading one reads no other. Kinds are lowercase: the
 * id in base 36.
 */
export function kindOf(channelId: ChannelId): string {
  return `mls-${BigInt(`0x${bytesToHex(binaryIdToBytes(channelId))}`).toString(36)}`;
}

/** The id of the record without which a group cannot be loaded. */
export const epochId = "epoch";
export const changesId = "owners";
export const entryId = "entry";
export const parentId = "parent";

/** `hash`: of a generation of ours, in hexadecimal. */
export function foundingId(hash: string): string {
  return `foundings/${hash}`;
}

export function pastId({ context }: EpochId): string {
  return `past/${context.epoch}`;
}

/**
 * The members from this epoch on, up to the next of these records: most commits change no leaf that
 * others look at.
 */
export function rosterId({ context }: EpochId): string {
  return `roster/${context.epoch}`;
}

export function frontierId({ context }: EpochId): string {
  return `frontier/${context.epoch}`;
}

export function ratchetId({ context }: EpochId, leafIndex: number): string {
  return `ratchet/${context.epoch}/${leafIndex}`;
}

export function proposalId(reference: string): string {
  return `proposal/${reference}`;
}

/** A commit of ours that was given up, and that the relay may take yet. */
export function givenId(hash: Uint8Array): string {
  return `given/${bytesToHex(hash)}`;
}

/**
 * Records of epochs that are over, in an order in which they can be deleted, and those of the
 * current one. Without a current epoch nothing can be loaded: then all are over.
 */
export function splitByEpoch(
  ids: readonly string[],
  current: bigint | undefined,
): { over: string[]; current: string[] } {
  const isPast = (id: string): boolean => id.startsWith("past/");
  const isOver = (id: string): boolean => {
    const [what = "", epoch] = id.split("/");
    const ofTree = what === "frontier" || what === "ratchet";
    const isRoster = what === "roster";
    return current === undefined || isPast(id) || isRoster ||
      (ofTree && epoch !== String(current));
  };
  const over = ids.filter(isOver);
  return {
    over: [...over.filter(isPast), ...over.filter((id) => !isPast(id))],
    current: ids.filter((id) => !isOver(id)),
  };
}

export interface StoredGroup {
  readonly current: Epoch;
  /** The latest changes of the owners. */
  readonly changes: readonly OwnersChange[];
  /** How this member came in. */
  readonly entry: MembershipEntry;
  readonly past: PastEpochs;
  /** Epochs with a record of their members, ascending. */
  readonly rosters: readonly bigint[];
  readonly proposals: Proposals;
  /** A commit of ours whose fate is unknown. */
  readonly candidate: PreparedCommit | undefined;
  /**
   * Commits of ours that were given up in this epoch, and that the relay may take yet. In no order.
   */
  readonly given: readonly PreparedCommit[];
  /** Generations of ours that the relay may have taken. */
  readonly foundings: readonly FoundingCandidate[];
  readonly parent: ParentEpoch | undefined;
}

/**
 * Undefined when there is no epoch among the records. Throws `MlsFault` or `WireError` when they
 * are damaged.
 */
export function readGroup(records: readonly LoadedRecord[]): StoredGroup | undefined {
  const stored = new Map(records.map(({ id, value }) => [id, value]));
  const epochRecord = stored.get(epochId);
  if (epochRecord === undefined) return undefined;
  const epoch = decodeEpoch(epochRecord);
  const ratchets = ratchetsByEpoch(stored);
  const treeOf = (number: string): StoredTree => ({
    frontier: stored.get(`frontier/${number}`),
    ratchets: ratchets.get(number) ?? [],
  });
  const place = { ...epoch, nodeCount: epoch.tree.nodeCount };
  const rosters = rostersOf(stored);
  const [candidate, entry] = [stored.get("candidate"), stored.get(entryId)];
  const parent = stored.get(parentId);
  if (entry === undefined) {
    throw new MlsFault("Stored MLS state is incomplete: how this member came in is missing");
  }
  return {
    foundings: under(stored, "foundings/").map(([, value]) => decodeFounding(value)),
    parent: parent && decodeParent(parent),
    changes: changesOf(epoch, stored.get(changesId)),
    entry: decodeEntry(entry),
    current: { ...epoch, secretTree: restoreTree(place, treeOf(String(epoch.context.epoch))) },
    past: new PastEpochs(
      under(stored, "past/").map((
        [number, value],
      ) => [BigInt(number), whenNeeded(value, treeOf(number), rosterAt(rosters, BigInt(number)))]),
    ),
    rosters: rosters.map(([from]) => from),
    proposals: new Map(
      under(stored, "proposal/").map((
        [reference, value],
      ) => [reference, decodeProposalFrom(value)]),
    ),
    candidate: candidate && decodeCandidate(candidate),
    given: under(stored, "given/").map(([, value]) => decodeCandidate(value)),
  };
}

function changesOf(
  { context }: Pick<Epoch, "context">,
  record: Uint8Array | undefined,
): readonly OwnersChange[] {
  const changes = record === undefined ? [] : decodeChanges(record);
  if (!isChainOf(versionIn(decodeBinding(context.extensions)), changes)) {
    throw new MlsFault("Stored MLS state is incomplete: the changes of the owners are missing");
  }
  return changes;
}

interface StoredTree {
  readonly frontier: Uint8Array | undefined;
  readonly ratchets: readonly StoredRatchet[];
}

/** A function of its own: what it answers holds on to its arguments and to nothing else. */
function whenNeeded(
  record: Uint8Array,
  tree: StoredTree,
  roster: Roster | undefined,
): LoadPastEpoch {
  return () => {
    if (roster === undefined) {
      throw new MlsFault("Stored MLS state is incomplete: the members of an epoch are missing");
    }
    const place = decodePastEpoch(record);
    return { ...place, roster, secretTree: restoreTree(place, tree) };
  };
}

type RosterFrom = readonly [from: bigint, roster: Roster];

function rostersOf(stored: ReadonlyMap<string, Uint8Array>): readonly RosterFrom[] {
  return under(stored, "roster/").map(([from, bytes]): RosterFrom => [
    BigInt(from),
    new Roster(bytes),
  ]).sort(([a], [b]) => a < b ? -1 : 1);
}

function rosterAt(rosters: readonly RosterFrom[], epoch: bigint): Roster | undefined {
  return rosters.findLast(([from]) => from <= epoch)?.[1];
}

function restoreTree(
  place: Parameters<typeof restoreSecretTree>[0],
  { frontier, ratchets }: StoredTree,
): Epoch["secretTree"] {
  if (frontier === undefined) {
    throw new MlsFault("Stored MLS state is incomplete: a secret tree is missing");
  }
  return restoreSecretTree(place, frontier, ratchets);
}

/** Records whose names begin so, by the rest of their names. */
function under(
  stored: ReadonlyMap<string, Uint8Array>,
  prefix: string,
): (readonly [string, Uint8Array])[] {
  return [...stored].filter(([id]) => id.startsWith(prefix)).map((
    [id, value],
  ) => [id.slice(prefix.length), value]);
}

function ratchetsByEpoch(
  stored: ReadonlyMap<string, Uint8Array>,
): ReadonlyMap<string, readonly StoredRatchet[]> {
  const byEpoch = new Map<string, StoredRatchet[]>();
  for (const [id, value] of under(stored, "ratchet/")) {
    const [epoch = "", leaf] = id.split("/");
    const known = byEpoch.get(epoch) ?? [];
    known.push([Number(leaf), value]);
    byEpoch.set(epoch, known);
  }
  return byEpoch;
}
