/**
 * The counters of our messages. They are reserved on disk many at a time, in one write with the keys that seal the messages, so
 * that a message waits for the disk once in a while. A counter is used for one message only. One that was given out and never
 * sent is told to the others as gone, with the next message that the relay takes; so is what a crash leaves unknown.
 */
import { type ChannelId, type CounterRange, maxBundledMessages } from "../../proto/mod.ts";
import { reservedGenerations } from "../mls/durable_group.ts";
import type { RecordChange } from "../store/mod.ts";
import type { ChannelDeps } from "./deps.ts";
import { type CounterRecord, putCounters } from "./records.ts";

/** As many as the keys of one reservation can seal. */
const reservedCounters = reservedGenerations * maxBundledMessages;
/** After a crash, messages that the relay took within this time may be told as gone if it hides them. */
const lagMs = 1_000;

export class Counters {
  readonly #channelId: ChannelId;
  /** The last one that was given out. */
  #last: number;
  #reserved: number;
  /** Every counter up to here is settled: the relay took its message, or others were told that it is gone. */
  #known: number;
  /** Beyond `known`. */
  #settled: readonly CounterRange[] = [];
  /** Gone and not told yet. */
  #gone: readonly CounterRange[] = [];
  /**
   * The range that was reported last. It is repeated while there is nothing new, because a member may have missed the
   * message that said so.
   */
  #told: CounterRange | undefined;
  /** Grows with every new membership: what was given out before means nothing any more. */
  #life = 0;

  constructor(channelId: ChannelId, { reserved, known }: CounterRecord) {
    this.#channelId = channelId;
    this.#last = this.#reserved = reserved;
    this.#known = known;
    // A crash: some of these may have been sent, and none of them will be.
    if (known < reserved) this.#gone = [{ first: known + 1, count: reserved - known }];
  }

  /** The last one that may have been sent. */
  get last(): number {
    return this.#last;
  }

  get life(): number {
    return this.#life;
  }

  /** Whether it must not be sent before a new reservation. */
  isBeyond(counter: number): boolean {
    return counter > this.#reserved;
  }

  /** The first of so many in a row. They may be sent once a reservation covers them, which sealing sees to. */
  take(count: number): number {
    const first = this.#last + 1;
    this.#last += count;
    return first;
  }

  /**
   * To be written in one with the reservation of keys. `waiting`: messages that wait, when somebody would miss those that are
   * not used; not given when everybody understands that they are gone.
   */
  reserve(waiting?: number): RecordChange {
    this.#reserved = this.#last + (waiting ?? reservedCounters);
    return this.record;
  }

  /** Returns the unused counters that the next message has to report. */
  goneBefore(counter: number): CounterRange | undefined {
    // The nearest first: it is what receivers look for.
    const gone = this.#gone.findLast(({ first }) => first < counter) ?? this.#told;
    if (gone === undefined || gone.first >= counter) return undefined;
    return { first: gone.first, count: Math.min(gone.count, counter - gone.first) };
  }

  /** The relay took what was sent under these, and with it the word about those that are gone. */
  accepted(range: CounterRange, told: CounterRange | undefined): void {
    this.#settle(range);
    if (told === undefined) return;
    this.#told = told;
    this.#gone = this.#gone.flatMap((each) => without(each, told));
    this.#settle(told);
  }

  /** Nothing will be sent under these any more. */
  giveUp(range: CounterRange): void {
    this.#gone = joined([...this.#gone, range]);
  }

  /** Gives back reserved counters that were not used, unless something is open. */
  close(): RecordChange {
    if (this.#gone.length === 0 && this.#known === this.#last) this.#reserved = this.#last;
    return this.record;
  }

  /** A new membership: counters begin anew, for us and for those who count. */
  restart(): RecordChange {
    this.#last = this.#reserved = this.#known = 0;
    this.#settled = this.#gone = [];
    this.#told = undefined;
    this.#life++;
    return this.record;
  }

  #settle(range: CounterRange): void {
    this.#settled = joined([...this.#settled, range]);
    const [lowest] = this.#settled;
    if (lowest === undefined || lowest.first > this.#known + 1) return;
    this.#known = Math.max(this.#known, lowest.first + lowest.count - 1);
    this.#settled = this.#settled.slice(1);
  }

  /** The record to write, also from time to time, so that a crash leaves few counters unknown. */
  get record(): RecordChange {
    return putCounters(this.#channelId, { reserved: this.#reserved, known: this.#known });
  }
}

/** Writes how far counters are settled, a moment after they are: nobody waits for it. */
export class CounterLag {
  readonly #counters: Counters;
  readonly #onFault: (fault: unknown) => void;
  readonly #deps: Pick<ChannelDeps, "runtime" | "store">;
  #cancel: (() => void) | undefined;

  constructor(counters: Counters, onFault: (fault: unknown) => void, deps: Pick<ChannelDeps, "runtime" | "store">) {
    this.#counters = counters;
    this.#onFault = onFault;
    this.#deps = deps;
  }

  writeLater(): void {
    this.#cancel ??= this.#deps.runtime.after(lagMs, () => {
      this.#cancel = undefined;
      this.#deps.store.batch([this.#counters.record]).catch((fault) => this.#onFault(fault));
    });
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
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
