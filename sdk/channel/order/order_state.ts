/**
 * The order of a channel's log as this agent has seen it: a hash that runs over the messages of
 * each epoch. It is plain data, and `stepOrder` alone changes it. The words that are said and
 * compared are on docs/guarantees.md#one-order.
 */
import {
  type AgentId,
  binaryIdToBytes,
  type ChannelId,
  type LogWord,
  seenHashBytes,
} from "../../../proto/mod.ts";
import { sha256 } from "../../../wasm/mod.ts";

/** Everything up to an entry of the log. */
export interface LogPoint {
  readonly sequence: number;
  readonly epoch: number;
  /** Messages of this epoch up to here. */
  readonly count: number;
  readonly hash: Uint8Array;
  /**
   * The hash at the end of the last epoch before this one that has messages; undefined when it is
   * not known.
   */
  readonly before: Uint8Array | undefined;
  /** The entry is ours, so it is not delivered to us again. */
  readonly own: OwnEntry | undefined;
}

/** An entry of ours: a message, or a commit. */
export interface OwnEntry {
  readonly sequence: number;
  /** The epoch of the entry. For a commit, this is the epoch that it begins. */
  readonly epoch: number;
  /** SHA-256 of a message. */
  readonly digest: Uint8Array | undefined;
}

/** A known entry, behind one that is not. */
export interface EntryAhead extends OwnEntry {
  readonly isOwn: boolean;
}

/**
 * A message of ours, from the moment in which the relay may have it until it is known where it
 * stands, or that it does not.
 */
export interface UnplacedMessage {
  readonly counter: number;
  readonly epoch: number;
  readonly digest: Uint8Array;
  /** The message stands behind this entry. */
  readonly after: number;
}

/** A word that is compared when we know as much. */
export interface HeardWord {
  readonly sender: AgentId;
  readonly epoch: number;
  readonly word: LogWord;
}

export interface OrderState {
  readonly channelId: ChannelId;
  /** The last of them is the latest; ascending, the oldest are forgotten. */
  readonly points: LogPoint[];
  /** Between here and the first of them stands nothing but entries of ours. */
  from: number;
  /** Every entry up to here is known. */
  through: number;
  /** The log was read up to here. */
  read: number;
  /** Ascending. */
  ahead: readonly EntryAhead[];
  out: readonly UnplacedMessage[];
  /** Nothing is said or compared about epochs up to this one. */
  unsureThrough: number;
  /** The latest word of each sender. */
  words: readonly HeardWord[];
  /** The last place about which somebody else said the same. */
  agreed: number;
  /** Members that saw something else in this epoch, and in the one before it. */
  differs: { readonly here: readonly AgentId[]; readonly before: readonly AgentId[] };
  /**
   * The disk says that we send, and nothing that came since: a process that finds it so is not
   * sure.
   */
  isOpen: boolean;
}

export type OrderEvent =
  /**
   * Reading has passed an entry. `epoch`: of the log behind it; `digest`: of a message of that
   * epoch; `isGap`: the relay gave up messages there, which were not read.
   */
  | {
    readonly type: "passed";
    readonly sequence: number;
    readonly epoch: number;
    readonly digest?: Uint8Array | undefined;
    readonly isGap?: boolean;
  }
  /** A message was opened. */
  | {
    readonly type: "opened";
    readonly sender: AgentId;
    readonly sequence: number;
    readonly epoch: number;
    readonly word: LogWord;
  }
  /** The relay is given a message of ours, perhaps again. */
  | {
    readonly type: "departs";
    readonly counter: number;
    readonly epoch: number;
    readonly digest: Uint8Array;
  }
  /** A message of ours stands in the log. */
  | {
    readonly type: "stands";
    readonly counter: number;
    readonly epoch: number;
    readonly sequence: number;
  }
  /**
   * A message of ours is not sent any more. `mayStand`: nobody can tell whether the relay has it.
   */
  | {
    readonly type: "dropped";
    readonly counter: number;
    readonly epoch: number;
    readonly mayStand: boolean;
  }
  /** A commit of ours stands in the log, and begins this epoch. */
  | { readonly type: "moved"; readonly sequence: number; readonly epoch: number }
  /** The relay's log is not where we left it. `epoch`: of our group. */
  | { readonly type: "lost"; readonly epoch: number }
  /** A membership begins behind this entry, in this epoch. */
  | { readonly type: "entered"; readonly sequence: number; readonly epoch: number }
  /** The next record says that we have sent. */
  | { readonly type: "opening" }
  /** The channel is closed here: the next record has all that is known. */
  | { readonly type: "closing" };

/** A member has seen something else of the log, at some of these entries. */
export interface OrderFinding {
  /** Other messages, or as many in another order; or more or fewer of them. */
  readonly kind: "reordered" | "missing_tail";
  readonly sender: AgentId;
  /** Entries as we number them. */
  readonly from: number;
  readonly to: number;
}

/** On disk, of the moment in which a position is written. */
export interface OrderRecord {
  readonly sequence: number;
  readonly epoch: number;
  readonly count: number;
  readonly hash: Uint8Array;
  readonly before: Uint8Array | undefined;
  readonly unsureThrough: number;
  /** We may have sent something since. */
  readonly isOpen: boolean;
  /** Ours behind it. */
  readonly own: readonly OwnEntry[];
}

export interface OrderBeginning {
  readonly channelId: ChannelId;
  readonly record: OrderRecord | undefined;
  /** On disk; undefined when the relay knows better. */
  readonly position: number | undefined;
  readonly joinedEpoch: number;
  /** The epoch of our group. */
  readonly epoch: number;
}

/** Entries behind one that is not known, and entries of ours that are written. */
export const maxAhead = 1024;
const prefix = new TextEncoder().encode("static order");

/** Restores the order for a process that starts. */
export function restoreOrder(
  { channelId, record, position, joinedEpoch, epoch }: OrderBeginning,
): OrderState {
  // A record of an earlier membership says nothing about this one.
  if (record === undefined || record.epoch < joinedEpoch) {
    return newOrder(channelId, position ?? 0, joinedEpoch);
  }
  const { sequence, unsureThrough, isOpen, own, ...rest } = record;
  const before = isOpen ? undefined : rest.before;
  return {
    channelId,
    points: [{ ...rest, sequence, before, own: undefined }],
    from: Math.min(sequence, position ?? sequence),
    through: Math.max(sequence, position ?? 0),
    read: Math.max(sequence, position ?? 0),
    ahead: isOpen ? [] : own.map((each) => ({ ...each, isOwn: true })),
    out: [],
    unsureThrough: isOpen ? Math.max(unsureThrough, epoch) : unsureThrough,
    words: [],
    agreed: sequence,
    differs: nobody,
    isOpen,
  };
}

/**
 * Returns the order of a membership that begins behind this entry: nothing is known of an earlier
 * epoch.
 */
export function newOrder(channelId: ChannelId, sequence: number, epoch: number): OrderState {
  const point = {
    sequence,
    epoch,
    count: 0,
    hash: firstHash(channelId, epoch),
    before: undefined,
    own: undefined,
  };
  return {
    channelId,
    points: [point],
    from: sequence,
    through: sequence,
    read: sequence,
    ahead: [],
    out: [],
    unsureThrough: epoch - 1,
    words: [],
    agreed: sequence,
    differs: nobody,
    isOpen: false,
  };
}

export const nobody: OrderState["differs"] = Object.freeze({
  here: Object.freeze([]),
  before: Object.freeze([]),
});

/** With which an epoch begins. */
export function firstHash(channelId: ChannelId, epoch: number): Uint8Array {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(epoch));
  return cut(sha256(prefix, binaryIdToBytes(channelId), number));
}

/** Behind a message. */
export function nextHash(hash: Uint8Array, digest: Uint8Array): Uint8Array {
  return cut(sha256(hash, digest));
}

function cut(hash: Uint8Array): Uint8Array {
  return hash.slice(0, seenHashBytes);
}

/**
 * Returns the record of everything that is known up to the position that is written with it. Our
 * own entries behind that position are not delivered again, so they go with it. While we send they
 * do not: a process that is killed then is not sure anyway.
 */
export function orderRecord(
  { points, from, ahead, unsureThrough, isOpen, out }: OrderState,
  position: number,
): OrderRecord {
  const [oldest] = points;
  let at = points.findLastIndex(({ sequence }) => sequence <= position);
  if (at < 0 && position >= from) at = 0;
  if (at < 0) {
    if (oldest === undefined) throw new Error("nothing is known of the order");
    const { epoch, count, hash } = oldest;
    const unsure = Math.max(unsureThrough, epoch);
    return {
      sequence: position,
      epoch,
      count,
      hash,
      before: undefined,
      unsureThrough: unsure,
      isOpen,
      own: [],
    };
  }
  while (points[at + 1]?.own !== undefined) at++;
  // cast: there is one
  const { sequence, epoch, count, hash, before } = points[at] as LogPoint;
  const isKnown = !isOpen && out.length === 0;
  const known = isKnown ? points.slice(at + 1).flatMap(({ own }) => own ?? []) : [];
  const own = isKnown ? [...known, ...ahead.filter(({ isOwn }) => isOwn).map(ownOf)] : [];
  return {
    ...{ sequence, epoch, count, hash, before, unsureThrough },
    isOpen: !isKnown || own.length > maxAhead,
    own: own.length > maxAhead ? [] : own,
  };
}

function ownOf({ sequence, epoch, digest }: EntryAhead): OwnEntry {
  return { sequence, epoch, digest };
}
