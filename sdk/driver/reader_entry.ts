/** The memory of durable readers: messages that not all of them are past, and the readers that were given them. */
import type { Envelope } from "../content/envelope.ts";
import type { Lag } from "./lag.ts";
import type { Arrival, Place, ReaderPosition } from "./reader_position.ts";

export interface Entry {
  readonly envelope: Envelope;
  readonly number: number;
  readonly arrival: Arrival;
  /** Readers that are not past it. */
  readonly pending: Set<Reader>;
  /** One reader is past it. */
  passed: boolean;
}

/** A durable reader. */
export interface Reader {
  readonly name: string;
  readonly position: ReaderPosition;
  /** No message before this one waits to be given out. */
  next: number;
  /** Given to a program that has not acknowledged it. */
  readonly given: Map<Entry, Given>;
  readonly loops: Set<Loop>;
  readonly lag: Lag<Entry>;
  /** Messages that it was set past, and has not been told of. */
  missed: number;
}

/** Where a message is. */
export interface Given {
  readonly loop: Loop;
  /** Messages that the reader was set past, and that were told of with it. */
  readonly missed: number;
}

/** One program's loop. */
export interface Loop {
  readonly all: boolean;
  ended: boolean;
  /** It asks, and there is nothing for it. */
  waiting: boolean;
}

/** A reader, for people. */
export interface ReaderState {
  readonly name: string;
  readonly programs: number;
  /** Messages that it has not acknowledged. */
  readonly behind: number;
}

export function wantsAll({ loops }: Reader): boolean {
  return [...loops].some(({ all }) => all);
}

export function placeOf({ envelope: { sequence, timeMs, id } }: Entry): Place {
  return { sequence, timeMs, id };
}

/** Where the first entry of this number, or of a later one, is. */
export function indexOf(entries: readonly Entry[], number: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.number ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
