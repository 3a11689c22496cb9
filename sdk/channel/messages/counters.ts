/**
 * The counters of our messages, as plain data. They are reserved on disk many at a time, in one
 * write with the keys that seal the messages, so that a message waits for the disk once in a while.
 * A counter is used for one message only. One that was given out and never sent is told to the
 * others as gone, with the next message that the relay takes; so is what a crash leaves unknown.
 */
import { type CounterRange, maxBundledMessages } from "../../../proto/mod.ts";
import { reservedGenerations } from "../../mls/durable_group.ts";
import type { CounterRecord } from "../records.ts";

/** The number of counters that the keys of one reservation can seal. */
const reservedCounters = reservedGenerations * maxBundledMessages;
const none: readonly CounterRange[] = Object.freeze([]);

export interface Counters {
  /** The last one that was given out, so that it may have been sent. */
  last: number;
  reserved: number;
  /**
   * Every counter up to here is settled: the relay took its message, or others were told that it is
   * gone.
   */
  known: number;
  /** The same, as it is on disk. */
  noted: number;
  /** Settled, beyond `known`. */
  settled: readonly CounterRange[];
  /** Gone and not told yet. */
  gone: readonly CounterRange[];
  /**
   * The range that was told last. It is repeated while there is nothing new, because a member may
   * have missed the message that said so.
   */
  told: CounterRange | undefined;
  /** Grows with every new membership: what was given out before means nothing any more. */
  life: number;
}

export function restoreCounters({ reserved, known }: CounterRecord): Counters {
  // A crash: some of these may have been sent, and none of them will be.
  const gone = known < reserved ? [{ first: known + 1, count: reserved - known }] : none;
  return {
    last: reserved,
    reserved,
    known,
    noted: known,
    settled: none,
    gone,
    told: undefined,
    life: 0,
  };
}

/** Returns the counters as a process that starts finds them. */
export function counterRecord({ reserved, noted }: Counters): CounterRecord {
  return { reserved, known: noted };
}

/**
 * Returns the record to write, also from time to time, so that a crash leaves few counters unknown.
 */
export function noteCounters(counters: Counters): CounterRecord {
  counters.noted = counters.known;
  return counterRecord(counters);
}

/** The first of so many in a row. They may be sent once a reservation covers them. */
export function takeCounters(counters: Counters, count: number): number {
  const first = counters.last + 1;
  counters.last += count;
  return first;
}

/**
 * Returns the record to write in one with the reservation of keys. `waiting`: messages that wait,
 * when somebody would miss those that are not used; not given when everybody understands that they
 * are gone.
 */
export function reserveCounters(counters: Counters, waiting: number | undefined): CounterRecord {
  counters.reserved = counters.last + (waiting ?? reservedCounters);
  return noteCounters(counters);
}

/** The unused counters that the message under this one has to tell. */
export function goneBefore({ gone, told }: Counters, counter: number): CounterRange | undefined {
  // The nearest first: it is what receivers look for.
  const range = gone.findLast(({ first }) => first < counter) ?? told;
  if (range === undefined || range.first >= counter) return undefined;
  return { first: range.first, count: Math.min(range.count, counter - range.first) };
}

/** The relay took what was sent under these, and with it the word about those that are gone. */
export function acceptCounters(
  counters: Counters,
  range: CounterRange,
  told: CounterRange | undefined,
): void {
  settle(counters, range);
  if (told === undefined) return;
  counters.told = told;
  if (counters.gone.length > 0) {
    counters.gone = counters.gone.flatMap((each) => without(each, told));
  }
  settle(counters, told);
}

/** Nothing will be sent under these any more. */
export function giveUpCounters(counters: Counters, range: CounterRange): void {
  counters.gone = joined([...counters.gone, range]);
}

/** Gives back reserved counters that were not used, unless something is open. */
export function closeCounters(counters: Counters): CounterRecord {
  if (counters.gone.length === 0 && counters.known === counters.last) {
    counters.reserved = counters.last;
  }
  return noteCounters(counters);
}

/** A new membership: counters begin anew, for us and for those who count. */
export function restartCounters(counters: Counters): CounterRecord {
  counters.last = counters.reserved = counters.known = 0;
  counters.settled = counters.gone = none;
  counters.told = undefined;
  counters.life++;
  return noteCounters(counters);
}

function settle(counters: Counters, range: CounterRange): void {
  const end = range.first + range.count - 1;
  if (end <= counters.known) return;
  // One after the other, as it is when nothing goes wrong.
  if (counters.settled.length === 0 && range.first <= counters.known + 1) {
    return void (counters.known = end);
  }
  counters.settled = joined([...counters.settled, range]);
  const [lowest] = counters.settled;
  if (lowest === undefined || lowest.first > counters.known + 1) return;
  counters.known = Math.max(counters.known, lowest.first + lowest.count - 1);
  counters.settled = counters.settled.slice(1);
}

/** In order, those that touch as one. */
function joined(ranges: readonly CounterRange[]): CounterRange[] {
  const result: CounterRange[] = [];
  for (const { first, count } of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = result.at(-1);
    if (before === undefined || before.first + before.count < first) result.push({ first, count });
    else {
      const end = Math.max(before.first + before.count, first + count);
      result[result.length - 1] = { first: before.first, count: end - before.first };
    }
  }
  return result;
}

/** Returns the parts of a range that another range does not cover. */
function without(range: CounterRange, taken: CounterRange): CounterRange[] {
  const end = range.first + range.count;
  const takenEnd = taken.first + taken.count;
  return [
    { first: range.first, count: Math.min(end, taken.first) - range.first },
    { first: Math.max(range.first, takenEnd), count: end - Math.max(range.first, takenEnd) },
  ].filter(({ count }) => count > 0);
}
