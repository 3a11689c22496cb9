/**
 * Streams that a program pulls item by item: messages, events, answers, requests that it serves. A
 * pull whose caller gave up is kept: its item goes to the next pull, so waiting with a time limit
 * loses nothing.
 */
import { abortable } from "../../base/abortable.ts";
import { createError, invalidArgument } from "../../base/errors.ts";
import type { FrameHeader } from "../frames.ts";

export interface StreamItem {
  readonly header: FrameHeader;
  readonly bytes?: Uint8Array;
  /** Done with, by `ack`. */
  readonly ack?: () => Promise<void>;
  /** Settles a request that is served. */
  readonly settle?: RequestSettler;
  /** Done with, before the next one is asked for. */
  readonly pass?: () => Promise<void>;
  /** The same at the end of its stream. Resolves when that is on disk. */
  readonly finish?: () => Promise<void>;
  /** Gives the item back: it comes again. */
  readonly giveBack?: () => void;
}

export interface RequestSettler {
  readonly reply: (body: Uint8Array, contentType: string | undefined) => void;
  readonly fail: (error: Error) => void;
}

/** One source of items. */
export interface ItemSource {
  /** Undefined at the end. */
  next(): Promise<StreamItem | undefined>;
  /** Items that are there besides, up to so many. */
  more?(count: number): StreamItem[];
  /** Resolves when it is on disk that all items that were passed are done with. */
  written?(): Promise<void>;
  /** `gone`: its program has left without a word. */
  end(gone: boolean): void | Promise<void>;
}

export interface NumberedItem {
  readonly item: number;
  readonly content: StreamItem;
}

interface OpenedStream {
  readonly source: ItemSource;
  /** Questions whose askers gave up, the oldest first. */
  readonly kept: Promise<StreamItem | undefined>[];
  /** Items that are not settled or acknowledged. */
  readonly items: Map<number, StreamItem>;
  /** Items of the last answer. */
  latest: readonly NumberedItem[];
  count: number;
  ended: boolean;
}

const maxStreams = 256;

/** The streams of one program, by number. */
export class ProgramStreams {
  readonly #open = new Map<number, OpenedStream>();
  readonly #onEnd: (() => void)[] = [];
  #count = 0;
  #isOver = false;

  /** Refuses when there are too many. Before anything is opened. */
  check(): void {
    if ([...this.#open.values()].filter(({ ended }) => !ended).length < maxStreams) return;
    throw createError(
      "overloaded",
      `Cannot open a stream: ${maxStreams} are open; end some of them`,
    );
  }

  /** One that was opened for a program that has gone meanwhile ends at once. */
  add(source: ItemSource): number {
    const number = ++this.#count;
    if (this.#isOver) void endQuietly(source, true);
    else {this.#open.set(number, {
        source,
        kept: [],
        items: new Map(),
        latest: [],
        count: 0,
        ended: false,
      });}
    return number;
  }

  /**
   * The next item with its number and those that are there besides, up to so many; undefined at the
   * end, when the stream is gone.
   */
  async next(
    number: number,
    signal: AbortSignal,
    count = 1,
  ): Promise<readonly NumberedItem[] | undefined> {
    const open = this.#find(number);
    if (open.ended) return undefined;
    const question = open.kept.shift() ?? open.source.next();
    question.catch(() => {});
    let content: StreamItem | undefined;
    try {
      content = await abortable(signal, () => question);
    } catch (error) {
      if (signal.aborted) open.kept.push(question);
      else {
        this.#open.delete(number);
        // Messages that it was given are for others.
        void endQuietly(open.source, false);
      }
      throw error;
    }
    if (content === undefined) {
      open.ended = true;
      this.#forget(number, open);
      return undefined;
    }
    const more = count > 1 && !open.ended ? open.source.more?.(count - 1) ?? [] : [];
    open.latest = [content, ...more].map((each) => ({ item: ++open.count, content: each }));
    for (const { item, content: each } of open.latest) {
      if (each.ack !== undefined || each.settle !== undefined) open.items.set(item, each);
    }
    return open.latest;
  }

  /**
   * Settles the items of one answer: those up to `done` are done with, and those from `back` on
   * come again. Resolves when the program may go on.
   */
  async passed(number: number, done: number, back: number | undefined): Promise<void> {
    const open = this.#find(number);
    const { latest } = open;
    open.latest = latest.filter(({ item }) => item > done && (back === undefined || item < back));
    const passing = latest.flatMap(({ item, content }) =>
      item <= done ? content.pass?.() ?? [] : []
    );
    for (const { item, content } of latest) {
      if (back !== undefined && item >= back) content.giveBack?.();
    }
    await Promise.all(passing);
  }

  /** Acknowledging an item twice, or one that is gone, is not an error. */
  async ack(number: number, item: number): Promise<void> {
    const open = this.#find(number);
    const known = open.items.get(item);
    open.items.delete(item);
    this.#forget(number, open);
    await known?.ack?.();
  }

  /** Settling an item twice, or one that is over, is not an error. */
  settle(number: number, item: number, act: (settle: RequestSettler) => void): void {
    const open = this.#find(number);
    const settle = open.items.get(item)?.settle;
    if (settle !== undefined) act(settle);
    open.items.delete(item);
    this.#forget(number, open);
  }

  /** A request that need not be answered any more. Returns its number. */
  drop(number: number, isIt: (item: StreamItem) => boolean): number | undefined {
    const open = this.#open.get(number);
    const [item] = [...open?.items ?? []].find(([, each]) => isIt(each)) ?? [];
    if (item !== undefined) open?.items.delete(item);
    return item;
  }

  /**
   * Ends the stream. Items up to `seen` are done with, or all. The program has not seen what was on
   * its way to it: that comes again.
   */
  async finish(number: number, seen = Infinity): Promise<void> {
    const open = this.#find(number);
    const { source, latest, items } = open;
    open.ended = true;
    for (const { item } of latest) if (item > seen) items.delete(item);
    this.#forget(number, open);
    try {
      await Promise.all(
        latest.flatMap(({ item, content }) => item <= seen ? content.finish?.() ?? [] : []),
      );
      // A question that was given up, too, has passed those before it.
      await source.written?.();
    } finally {
      // With it goes back what the program has not seen, and what nobody asks for any more.
      await source.end(false);
    }
  }

  /**
   * Ending twice is not an error. Items that the program still works on can be settled and
   * acknowledged as before.
   */
  async end(number: number): Promise<void> {
    const open = this.#open.get(number);
    if (open === undefined) return;
    open.ended = true;
    this.#forget(number, open);
    await open.source.end(false);
  }

  /** Runs when the program has gone. */
  whenEnded(run: () => void): void {
    if (this.#isOver) run();
    else this.#onEnd.push(run);
  }

  /** The program has gone. */
  endAll(): void {
    this.#isOver = true;
    for (const run of this.#onEnd.splice(0)) run();
    for (const { source } of this.#open.values()) void endQuietly(source, true);
    this.#open.clear();
  }

  /**
   * One that has ended is kept for as long as something of it is worked on; of many such, the
   * latest.
   */
  #forget(number: number, { ended, items }: OpenedStream): void {
    if (!ended) return;
    if (items.size === 0) this.#open.delete(number);
    const over = [...this.#open].filter(([, open]) => open.ended);
    for (const [oldest] of over.slice(0, Math.max(0, over.length - maxStreams))) {
      this.#open.delete(oldest);
    }
  }

  #find(number: number): OpenedStream {
    const open = this.#open.get(number);
    if (open !== undefined) return open;
    throw invalidArgument(`There is no stream ${number}; it has ended, or was never opened`);
  }
}

/** Ends a source for a program that is not told any more what became of it. */
async function endQuietly(source: ItemSource, gone: boolean): Promise<void> {
  try {
    await source.end(gone);
  } catch {
    // The next use of the channel or of the store reports it.
  }
}
