/**
 * Where we are in a channel's log, and which epoch the log has there. Entries of one epoch stand before the commit that ends it,
 * so an entry of another epoch is a lie of the relay. The epoch is known from the commits that are delivered and from the
 * sequences of our own, which the relay does not deliver to us; it is stored with the position.
 */

/** A place in the log, and the epoch of the entries that follow it; undefined while it is not certain: see `lose`. */
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

/** Of an entry, seen from its place: as it should be, from an epoch that is over there, or from one that has not begun. */
export type EpochVerdict = "here" | "over" | "ahead";

/** Kept although they are read: by them a commit of somebody else in the same epoch is noticed. */
const keptCommits = 16;
/** Not read yet. As many as there are earlier epochs whose keys are kept. */
const maxCommits = 1000;

export class LogPlace {
  #received: number | undefined;
  /** While it is not certain: the log's epoch here is this one or a later one. */
  #epoch: number;
  #certain: boolean;
  /** In their order. */
  #own: OwnCommit[];

  constructor(received: number | undefined, epoch: number | undefined, own: readonly OwnCommit[]) {
    this.#received = received;
    this.#epoch = epoch ?? 0;
    this.#certain = epoch !== undefined;
    this.#own = [...own];
  }

  /** The last entry that was processed. */
  get received(): number | undefined {
    return this.#received;
  }

  /** Of what follows, as far as delivered entries tell; no later than the log's. */
  get epoch(): number {
    return this.#epoch;
  }

  get position(): LogPosition {
    return { sequence: this.#received ?? 0, epoch: this.#certain ? this.#epoch : undefined };
  }

  get ownCommits(): readonly OwnCommit[] {
    return this.#own;
  }

  rises(sequence: number): boolean {
    return sequence > (this.#received ?? -1);
  }

  /** The log's epoch in front of an entry that we have not passed yet. */
  epochAt(sequence: number): number {
    // One whose place is not known in this log says nothing.
    const between = this.#own.filter((own) => own.sequence > 0 && this.rises(own.sequence) && own.sequence < sequence);
    return Math.max(this.#epoch, ...between.map((own) => own.epoch + 1));
  }

  /** `groupEpoch` is where our group is: while its epoch is not certain, the log may be anywhere up to there. */
  judge({ sequence, epoch }: { sequence: number; epoch: number }, groupEpoch: number): EpochVerdict {
    const expected = this.epochAt(sequence);
    if (epoch === expected || (!this.#certain && epoch > expected && epoch <= groupEpoch)) return "here";
    return epoch < expected ? "over" : "ahead";
  }

  /** An entry was processed; behind it the log has this epoch. */
  pass(sequence: number, epoch: number = this.epochAt(sequence)): void {
    this.#epoch = Math.max(this.epochAt(sequence), epoch);
    this.#received = Math.max(this.#received ?? 0, sequence);
  }

  /** Our group has come no further than this: so has the log, and from here on its epoch is known. */
  settle(groupEpoch: number): void {
    this.#certain ||= this.#epoch >= groupEpoch;
  }

  /** To be read once more from here. */
  rewind({ sequence, epoch }: { readonly sequence: number; readonly epoch: number }): void {
    this.#received = sequence;
    this.#epoch = epoch;
  }

  /**
   * The relay's log is another one, or lost its end, and the relay says where to go on. Where our own commits stand in it is not
   * known: its epoch may be a later one, and becomes certain with the entries that follow. `unread` is the epoch of the oldest
   * entry that is to be read yet.
   */
  lose(unread: number = this.#epoch): void {
    this.#received = undefined;
    this.#epoch = Math.min(this.#epoch, unread);
    this.#certain = false;
    this.#own = this.#own.map((own) => ({ ...own, sequence: 0 }));
  }

  /** A new membership begins behind this entry. */
  restart(received: number | undefined, epoch: number): void {
    this.#received = received;
    this.#epoch = epoch;
    this.#certain = true;
    this.#own = [];
  }

  /** The relay took a commit of ours. `durable` is the position that is never read again. */
  accepted(commit: OwnCommit, durable: number): void {
    const own = [...this.#own, commit];
    const read = own.findIndex(({ sequence }) => sequence > durable);
    const surplus = Math.min(read < 0 ? own.length : read, Math.max(0, own.length - keptCommits));
    this.#own = own.slice(Math.max(surplus, own.length - maxCommits));
  }

  ownCommitOf(epoch: number): OwnCommit | undefined {
    return this.#own.find((own) => own.epoch === epoch);
  }
}
