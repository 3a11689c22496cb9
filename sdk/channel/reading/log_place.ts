/**
 * Where we are in a channel's log, and which epoch the log has there. Entries of one epoch stand
 * before the commit that ends it, so an entry of another epoch is a lie of the relay. The epoch is
 * known from the commits that are delivered and from the sequences of our own, which the relay does
 * not deliver to us; it is stored with the position.
 */

/**
 * A place in the log, and the epoch of the entries that follow it; undefined while it is not
 * certain: see `losePlace`.
 */
export interface LogPosition {
  readonly sequence: number;
  readonly epoch: number | undefined;
}

/** A commit of ours that the relay took. */
export interface OwnCommit {
  readonly sequence: number;
  /** Which it ended. */
  readonly epoch: number;
  readonly hash: Uint8Array;
}

/**
 * The epoch of an entry, seen from the entry's place: as it should be, from an epoch that is over
 * there, or from one that has not begun.
 */
export type EpochVerdict = "here" | "over" | "ahead";

export interface LogPlace {
  /** The last entry that was processed; undefined when the relay knows better. */
  received: number | undefined;
  /**
   * The epoch of what follows, as far as delivered entries tell; no later than the log's. While it
   * is not certain: this one or a later one.
   */
  epoch: number;
  isCertain: boolean;
  /** In their order. */
  own: readonly OwnCommit[];
}

/** Kept although they are read: by them a commit of somebody else in the same epoch is noticed. */
const keptCommits = 16;
/** Not read yet. As many as there are earlier epochs whose keys are kept. */
const maxCommits = 1000;
/** Frozen: states share it. */
const none: readonly OwnCommit[] = Object.freeze([]);

export function newPlace(
  received: number | undefined,
  epoch: number | undefined,
  own: readonly OwnCommit[],
): LogPlace {
  return { received, epoch: epoch ?? 0, isCertain: epoch !== undefined, own };
}

export function placeOf({ received, epoch, isCertain }: LogPlace): LogPosition {
  return { sequence: received ?? 0, epoch: isCertain ? epoch : undefined };
}

export function isAhead({ received }: LogPlace, sequence: number): boolean {
  return sequence > (received ?? -1);
}

/** The log's epoch in front of an entry that we have not passed yet. */
export function epochAt(place: LogPlace, sequence: number): number {
  let { epoch } = place;
  for (const own of place.own) {
    // One whose place is not known in this log says nothing.
    if (
      own.sequence > 0 && own.sequence < sequence && isAhead(place, own.sequence) &&
      own.epoch >= epoch
    ) {
      epoch = own.epoch + 1;
    }
  }
  return epoch;
}

/**
 * `groupEpoch` is where our group is: while its epoch is not certain, the log may be anywhere up to
 * there.
 */
export function judgeEpoch(
  place: LogPlace,
  { sequence, epoch }: { readonly sequence: number; readonly epoch: number },
  groupEpoch: number,
): EpochVerdict {
  const expected = epochAt(place, sequence);
  if (epoch === expected || (!place.isCertain && epoch > expected && epoch <= groupEpoch)) {
    return "here";
  }
  return epoch < expected ? "over" : "ahead";
}

/** An entry was processed; behind it the log has this epoch. */
export function passEntry(place: LogPlace, sequence: number, epoch = 0): void {
  place.epoch = Math.max(epochAt(place, sequence), epoch);
  place.received = Math.max(place.received ?? 0, sequence);
}

/** Our group has come no further than this: so has the log, and from here on its epoch is known. */
export function settlePlace(place: LogPlace, groupEpoch: number): void {
  place.isCertain ||= place.epoch >= groupEpoch;
}

/** To be read once more from here. */
export function rewindPlace(
  place: LogPlace,
  { sequence, epoch }: { readonly sequence: number; readonly epoch: number },
): void {
  place.received = sequence;
  place.epoch = epoch;
}

/**
 * The relay's log is another one, or lost its end, and the relay says where to go on. Where our own
 * commits stand in it is not known: its epoch may be a later one, and becomes certain with the
 * entries that follow. `unread` is the epoch of the oldest entry that is to be read yet.
 */
export function losePlace(place: LogPlace, unread: number = place.epoch): void {
  place.received = undefined;
  place.epoch = Math.min(place.epoch, unread);
  place.isCertain = false;
  place.own = place.own.map((own) => ({ ...own, sequence: 0 }));
}

/** A new membership begins behind this entry. */
export function restartPlace(place: LogPlace, received: number | undefined, epoch: number): void {
  place.received = received;
  place.epoch = epoch;
  place.isCertain = true;
  place.own = none;
}

/** The relay took a commit of ours. `durable` is the position that is never read again. */
export function acceptOwn(place: LogPlace, commit: OwnCommit, durable: number): void {
  const own = [...place.own, commit];
  const read = own.findIndex(({ sequence }) => sequence > durable);
  const surplus = Math.min(read < 0 ? own.length : read, Math.max(0, own.length - keptCommits));
  place.own = own.slice(Math.max(surplus, own.length - maxCommits));
}

export function ownCommitOf({ own }: LogPlace, epoch: number): OwnCommit | undefined {
  return own.find((each) => each.epoch === epoch);
}
