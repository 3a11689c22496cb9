/**
 * The memory of durable readers: messages that not all of them are past, and the readers that were
 * given them.
 */
import type { AgentId } from "../../../proto/mod.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { InboxReader } from "../../channel/runner/inbox_runner.ts";
import type { Envelope } from "../../content/envelope.ts";
import type { LagLimits, ReaderLag } from "./reader_lag.ts";
import type { LogArrival, ReaderPlace, ReaderPosition } from "./reader_position.ts";
import type { ReaderRecords } from "./reader_records.ts";

export interface ReadersParts {
  readonly agentId: AgentId;
  readonly records: ReaderRecords;
  /** Every message from the oldest that is not acknowledged; each is acknowledged separately. */
  readonly source: () => InboxReader;
  readonly runtime: Pick<Runtime, "nowMs" | "after">;
  readonly limits?: LagLimits;
}

export interface ReaderEntry {
  readonly envelope: Envelope;
  readonly number: number;
  readonly arrival: LogArrival;
  /** Readers that are not past it. */
  readonly pending: Set<DurableReader>;
  /** One reader is past it. */
  passed: boolean;
}

/** A durable reader. */
export interface DurableReader {
  readonly name: string;
  readonly position: ReaderPosition;
  /** No message before this one waits to be given out. */
  next: number;
  /** Given to a program that has not acknowledged it. */
  readonly given: Map<ReaderEntry, GivenPlace>;
  readonly loops: Set<Loop>;
  readonly lag: ReaderLag<ReaderEntry>;
  readonly passing: PassedPosition;
  /**
   * For a new reader: resolves when it is on disk that the reader exists, and rejects when it does
   * not.
   */
  created?: Promise<void>;
  /**
   * The reader is being deleted. Until that is on disk it gets messages as before, because the
   * deletion may fail.
   */
  isLeaving: boolean;
  /** Messages that it was set past, and has not been told of. */
  missed: number;
  /** When a program last asked it for a message; undefined when none has since the host began. */
  askedAtMs?: number;
}

export function createReader(
  own: Pick<DurableReader, "name" | "position" | "next" | "lag">,
): DurableReader {
  return { ...own, given: new Map(), loops: new Set(), passing: {}, isLeaving: false, missed: 0 };
}

/** The last that it has passed, which may not be on disk. */
export interface PassedPosition {
  /** Resolves when its position is. */
  noted?: Promise<void>;
  /** A message that everybody is past. */
  settled?: Envelope;
}

/** Where a message is. */
export interface GivenPlace {
  readonly loop: Loop;
  /** Messages that the reader was set past, and that were told of with it. */
  readonly missed: number;
}

/** One program's loop. */
export interface Loop {
  readonly all: boolean;
  ended: boolean;
  /** The loop asks, and there is nothing for it. */
  waiting: boolean;
}

/** A reader, for people. */
export interface ReaderState {
  readonly name: string;
  readonly programs: number;
  /** Messages that it has not acknowledged. */
  readonly behind: number;
  /** When a program last asked for one, which is now while it waits; since the host began. */
  readonly askedAtMs: number | undefined;
}

export function givenTo({ given }: DurableReader, loop: Loop): ReaderEntry[] {
  return [...given].flatMap(([entry, each]) => each.loop === loop ? [entry] : []);
}

export async function waiting(loop: Loop, news: Promise<void>): Promise<void> {
  loop.waiting = true;
  await news;
  loop.waiting = false;
}

export function isAsking({ loops }: DurableReader): boolean {
  return [...loops].some(({ waiting }) => waiting);
}

export function wantsAll({ loops }: DurableReader): boolean {
  return [...loops].some(({ all }) => all);
}

export function placeOf({ envelope: { sequence, timeMs, id } }: ReaderEntry): ReaderPlace {
  return { sequence, timeMs, id };
}

/** Where the first entry of this number, or of a later one, is. */
export function indexOf(entries: readonly ReaderEntry[], number: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.number ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
