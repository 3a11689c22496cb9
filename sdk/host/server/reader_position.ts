/**
 * How far a durable reader has come: past everything up to its reach in the channel's log, except
 * messages that it left open, and past messages beyond that. The open ones are kept and not those
 * that are done with, so a position is as small as what the reader has left undone, however long
 * ago that was. With each place stands the relay's time: the same place with a later time is
 * another message, of a relay that was restored, and is shown. Messages that were sent as one have
 * one place, so each has its id, too. Times need not rise with the places: the clocks of a
 * cluster's relays differ.
 */

import { createError } from "../../base/errors.ts";

/** In one life; as many as a channel's inbox holds. */
const maxAhead = 4096;

export interface ReaderPlace {
  readonly sequence: number;
  readonly timeMs: number;
  /** Undefined: every message at this place. */
  readonly id?: string | undefined;
}

/** When a message came, among the others of this life. */
export interface LogArrival {
  /** Which log it is of: a relay that is restored begins the next one. */
  readonly log: number;
  /** The latest time in its log up to it. */
  readonly latestMs: number;
}

/** Says of each message when it came. */
export class Arrivals {
  #log = 0;
  #sequence = 0;
  #latestMs = 0;

  /** In the order in which they come. One that was only late has a time from before. */
  next({ sequence, timeMs }: ReaderPlace): LogArrival {
    const isSetBack = sequence <= this.#sequence && timeMs > this.#latestMs;
    if (isSetBack) this.#log++;
    this.#sequence = isSetBack ? sequence : Math.max(sequence, this.#sequence);
    this.#latestMs = Math.max(timeMs, this.#latestMs);
    return { log: this.#log, latestMs: this.#latestMs };
  }
}

/** A position, as it is kept on disk. */
export interface StoredPosition {
  readonly reach: ReaderPlace;
  /** Up to the reach, and not done with. */
  readonly open: readonly ReaderPlace[];
  /** Beyond the reach, and done with. */
  readonly beyond: readonly ReaderPlace[];
}

export class ReaderPosition {
  #reach: ReaderPlace;
  /**
   * The reach of the last life. A message comes once in a life, so what this life adds decides
   * about no message that comes.
   */
  readonly #reachBefore: ReaderPlace;
  /** That the reach is in; before all of this life's at first. */
  #log = -1;
  /**
   * Open messages by place and id, of an earlier life, that have not come again; the others are
   * with the readers.
   */
  readonly #open: Map<string, ReaderPlace>;
  readonly #beyond: Map<string, ReaderPlace>;
  /** Messages beyond the reach that were acknowledged in this life before they came again. */
  readonly #ahead = new Set<string>();

  constructor(
    { reach = { sequence: 0, timeMs: 0 }, open = [], beyond = [] }: Partial<StoredPosition> = {},
  ) {
    this.#reach = this.#reachBefore = reach;
    this.#open = byKey(open);
    this.#beyond = byKey(beyond);
  }

  /** Returns whether the message is up to the reach: open, or done with. */
  reaches(place: ReaderPlace): boolean {
    return isUpTo(this.#reach, place);
  }

  /** Returns whether the position is past a message that has not come yet in this life. */
  isPast(place: ReaderPlace): boolean {
    if (isUpTo(this.#reachBefore, place)) return this.#openAt(place).length === 0;
    const known = this.#beyond.get(keyOf(place)) ??
      this.#beyond.get(keyOf({ ...place, id: undefined }));
    return known !== undefined && place.timeMs <= known.timeMs;
  }

  /**
   * The message has come: from now on the readers know whether it is open. Messages come in order,
   * so what was before it and has not come never will.
   */
  meet(place: ReaderPlace): void {
    for (const [key, { sequence }] of this.#open) {
      if (sequence >= place.sequence) break;
      this.#open.delete(key);
    }
    this.#open.delete(keyOf(place));
  }

  /**
   * Done with this one, which has come. All before it have come, too, and those that are not done
   * with are open.
   */
  pass(place: ReaderPlace, { log, latestMs }: LogArrival): void {
    if (this.reaches(place)) return;
    // One of an earlier log says nothing of the places before it in the log of now.
    if (log >= this.#log) this.#moveTo(place.sequence - 1, { log, latestMs });
    // Others that were sent with it may be open, and may not have come.
    if (!this.reaches(place)) this.#beyond.set(keyOf(place), place);
  }

  /** Within a log never back: it would forget what is done with. */
  #moveTo(before: number, { log, latestMs }: LogArrival): void {
    const sequence = log === this.#log ? Math.max(before, this.#reach.sequence) : before;
    this.#reach = { sequence, timeMs: Math.max(latestMs, this.#reach.timeMs) };
    this.#log = log;
    for (const [key, each] of this.#beyond) {
      if (!this.reaches(each)) continue;
      this.#beyond.delete(key);
      this.#ahead.delete(key);
    }
  }

  /** Done with this one, which has not come again. Throws `overloaded` when too many have not. */
  passAhead(place: ReaderPlace): void {
    for (const key of this.#openAt(place)) this.#open.delete(key);
    if (this.reaches(place)) return;
    const key = keyOf(place);
    if (this.#ahead.size >= maxAhead && !this.#ahead.has(key)) {
      throw createError(
        "overloaded",
        `${maxAhead} messages were acknowledged before they came again; wait for them`,
      );
    }
    this.#ahead.add(key);
    this.#beyond.set(key, place);
  }

  /** Returns the position as it is now, when these messages have come and are not done with. */
  state(pending: readonly ReaderPlace[]): StoredPosition {
    const open = [...pending.filter((place) => this.reaches(place)), ...this.#open.values()];
    return { reach: this.#reach, open, beyond: [...this.#beyond.values()] };
  }

  #openAt({ sequence, timeMs, id }: ReaderPlace): string[] {
    if (id !== undefined) {
      return [keyOf({ sequence, timeMs, id })].filter((key) => this.#open.has(key));
    }
    return [...this.#open].flatMap(([key, place]) => place.sequence === sequence ? [key] : []);
  }
}

function isUpTo(reach: ReaderPlace, { sequence, timeMs }: ReaderPlace): boolean {
  return sequence <= reach.sequence && timeMs <= reach.timeMs;
}

function byKey(places: readonly ReaderPlace[]): Map<string, ReaderPlace> {
  return new Map(places.map((place) => [keyOf(place), place]));
}

function keyOf({ sequence, id = "" }: ReaderPlace): string {
  return `${sequence}.${id}`;
}
