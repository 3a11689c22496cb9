/**
 * The durable readers of one channel: each sees every message and has a position of its own. A
 * message is acknowledged when all of them are past it. The position of a reader that is ahead of
 * another is on disk before the message can be acknowledged, so a crash delivers a message again to
 * those alone that have not acknowledged it.
 */
import { createError } from "../../base/errors.ts";
import { EventStream } from "../../base/event_stream.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { InboxReader } from "../../channel/runner/inbox_runner.ts";
import type { Envelope } from "../../content/envelope.ts";
import {
  maxMoreBytes,
  type MessageReader,
  type ReadMessage,
  type ReadOptions,
  sizeOf,
} from "./agent_handle.ts";
import { ReaderLag } from "./reader_lag.ts";
import {
  createReader,
  type DurableReader,
  givenTo,
  indexOf,
  isAsking,
  type Loop,
  placeOf,
  type ReaderEntry,
  type ReadersParts,
  type ReaderState,
  waiting,
  wantsAll,
} from "./reader_entry.ts";
import { PositionWrites } from "./position_writes.ts";
import { Arrivals, type ReaderPlace, ReaderPosition } from "./reader_position.ts";
import { checkNew } from "./reader_records.ts";
import { openTail } from "./tail_reader.ts";

const defaultName = "default";
/** A loop that is further ahead of the disk waits for it. */
const maxAhead = 64;
/**
 * With more that are open, the channel may deliver again what was acknowledged between them; see
 * `maxHoles` of `Senders`.
 */
const maxOpen = 32;

export class Readers {
  readonly #parts: ReadersParts;
  readonly #readers = new Map<string, DurableReader>();
  readonly #tails = new EventStream<ReaderEntry>();
  #defaultDeleted = false;
  /** In the order in which they came. */
  #entries: ReaderEntry[] = [];
  #count = 0;
  readonly #arrivals = new Arrivals();
  #wakers: (() => void)[] = [];
  #over: { readonly error: unknown } | undefined;
  #source: InboxReader | undefined;
  #opened: Promise<void> | undefined;
  readonly #positions: PositionWrites;
  #deleting: Promise<void> = Promise.resolve();
  /** Messages that a reader is done with, and that would come again to it after a crash now. */
  #unwritten = 0;

  constructor(parts: ReadersParts) {
    this.#parts = parts;
    const after: Runtime["after"] = (ms, run) => parts.runtime.after(ms, run);
    this.#positions = new PositionWrites({
      records: parts.records,
      entries: () => this.#entries,
      after,
    });
  }

  /** The channel has ended here. */
  get isOver(): boolean {
    return this.#over !== undefined;
  }

  async open({ as, tail, all, manual }: ReadOptions): Promise<MessageReader> {
    await this.#begun();
    if (tail) {
      return openTail({
        entries: this.#tails.listen(),
        waiting: (after) =>
          as === undefined
            ? []
            : this.#entries.filter((entry) =>
              entry.number > after && this.#waitsFor(entry, this.#readers.get(as))
            ),
        // After a crash those that it is past come again, because others are not.
        wants: (entry) =>
          as === undefined || !this.#isForUs(entry.envelope)
            ? all || this.#isForUs(entry.envelope)
            : this.#waitsFor(entry, this.#readers.get(as)),
        error: () => this.#over?.error,
      });
    }
    let reader: DurableReader;
    do {
      reader = await this.#readerOf(as ?? defaultName);
      // The reader may be deleted meanwhile.
    } while (this.#readers.get(reader.name) !== reader || reader.isLeaving);
    const loop: Loop = { all, ended: false, waiting: false };
    reader.loops.add(loop);
    return {
      next: async () => {
        if (!manual) await this.#acknowledge(reader, givenTo(reader, loop), false);
        return await this.#next(reader, loop, manual);
      },
      more: (count) => manual ? [] : this.#more(reader, loop, count),
      written: async () => manual ? undefined : await this.#positions.written(reader),
      finish: async () => {
        try {
          if (manual) return;
          await this.#acknowledge(reader, givenTo(reader, loop), true);
          await this.#positions.written(reader);
        } finally {
          this.#leave(reader, loop);
        }
      },
      end: () => Promise.resolve(this.#leave(reader, loop)),
    };
  }

  /**
   * A message of a host before this one, whether or not it has come again. Resolves when that is on
   * disk.
   */
  async pass(place: ReaderPlace, name: string = defaultName): Promise<void> {
    await this.#begun();
    const reader = this.#readers.get(name);
    if (reader === undefined) return;
    const isIt = ({ envelope: { sequence, timeMs, id } }: ReaderEntry): boolean =>
      sequence === place.sequence &&
      (place.id === undefined ? timeMs <= place.timeMs : place.id === id);
    const entry = this.#entries.find((each) => isIt(each) && each.pending.has(reader));
    if (entry !== undefined) return await this.#acknowledge(reader, [entry], true);
    if (reader.position.isPast(place)) return;
    reader.position.passAhead(place);
    const written = this.#positions.noteAhead(reader, place);
    this.#positions.hurry();
    await written;
  }

  async list(): Promise<ReaderState[]> {
    await this.#begun();
    return Array.from(this.#readers.values(), (reader) => ({
      name: reader.name,
      programs: reader.loops.size,
      behind: this.#entries.filter(({ pending }) => pending.has(reader)).length,
      askedAtMs: isAsking(reader) ? this.#parts.runtime.nowMs() : reader.askedAtMs,
    }));
  }

  /** The reader never sees messages that it has not acknowledged. */
  async delete(name: string): Promise<void> {
    await this.#begun();
    const reader = this.#readers.get(name);
    if (reader === undefined || reader.isLeaving) {
      throw createError("not_found", `There is no reader "${name}" of this channel`);
    }
    if (reader.loops.size > 0) {
      throw createError("not_allowed", `A program reads as "${name}"; end it first`);
    }
    reader.isLeaving = true;
    this.#positions.forget(reader);
    // One of the same name waits, or its record would be deleted with this one's.
    await (this.#deleting = this.#erase(reader, this.#deleting));
  }

  async #erase(reader: DurableReader, before: Promise<void>): Promise<void> {
    const { name, position } = reader;
    const isDefault = name === defaultName;
    await Promise.allSettled([before, reader.created]);
    if (this.#readers.get(name) !== reader) return;
    await this.#positions.flush().catch(() => {});
    try {
      if (!isDefault) await this.#parts.records.delete(name);
      else {await this.#parts.records.write([{
          name,
          position: position.state([]),
          missed: 0,
          deleted: true,
        }]);}
    } catch (error) {
      reader.isLeaving = false;
      this.#positions.recall(reader);
      throw error;
    }
    if (isDefault) this.#defaultDeleted = true;
    this.#drop(reader);
  }

  /** Nothing waits for it any more. */
  #drop(reader: DurableReader): void {
    if (this.#readers.get(reader.name) === reader) this.#readers.delete(reader.name);
    this.#positions.forget(reader);
    for (const { pending } of this.#entries) pending.delete(reader);
    this.#settleUnheard();
  }

  /** Nothing more comes. */
  async stop(): Promise<void> {
    await this.#positions.flush().finally(() => this.#source?.return?.());
  }

  /** Tried again when it has failed. */
  async #begun(): Promise<void> {
    this.#opened ??= this.#begin().catch((error) => {
      this.#opened = undefined;
      throw error;
    });
    await this.#opened;
  }

  async #begin(): Promise<void> {
    for (const { name, position, missed, deleted } of await this.#parts.records.list()) {
      if (deleted) this.#defaultDeleted = true;
      else this.#add(name, new ReaderPosition(position)).missed = missed;
    }
    if (!this.#readers.has(defaultName) && !this.#defaultDeleted) {
      this.#add(defaultName, new ReaderPosition());
    }
    this.#source = this.#parts.source();
    void this.#pump(this.#source);
  }

  #add(name: string, position: ReaderPosition): DurableReader {
    const first = this.#entries[0]?.number ?? this.#count;
    const reader = createReader({
      name,
      position,
      next: first,
      lag: new ReaderLag(this.#parts.limits),
    });
    this.#readers.set(name, reader);
    for (const entry of this.#entries) {
      if (!this.#isForUs(entry.envelope)) continue;
      entry.pending.add(reader);
      if (entry.passed) reader.lag.add(entry, this.#parts.runtime.nowMs());
    }
    return reader;
  }

  async #readerOf(name: string): Promise<DurableReader> {
    await this.#deleting.catch(() => {});
    const reader = this.#readers.get(name) ?? this.#create(name);
    await reader.created;
    return reader;
  }

  #create(name: string): DurableReader {
    checkNew(name, this.#readers.size);
    const reader = this.#add(name, new ReaderPosition());
    const record = { name, position: reader.position.state([]), missed: 0, deleted: false };
    // On disk before anything is acknowledged without it: nothing is acknowledged that it has not
    // passed.
    reader.created = this.#parts.records.write([record]).then(() => {
      if (name === defaultName) this.#defaultDeleted = false;
    }, (error) => {
      this.#drop(reader);
      throw error;
    });
    return reader;
  }

  async #pump(source: InboxReader): Promise<void> {
    try {
      for await (const envelope of source) {
        this.#take(envelope);
        for (let more = source.poll?.(); more !== undefined; more = source.poll?.()) {
          this.#take(more);
        }
        // Not before all of them: messages that were sent as one come together.
        this.#setForward(this.#parts.runtime.nowMs());
      }
      this.#over = { error: undefined };
    } catch (error) {
      this.#over = { error };
    }
    this.#tails.end();
    this.#wake();
  }

  #take(envelope: Envelope): void {
    const isForUs = this.#isForUs(envelope);
    const concerned = [...this.#readers.values()].filter((reader) => isForUs || wantsAll(reader));
    const pending = concerned.filter(({ position }) => !position.isPast(envelope));
    const arrival = this.#arrivals.next(envelope);
    const entry: ReaderEntry = {
      envelope,
      number: this.#count++,
      arrival,
      pending: new Set(pending),
      passed: false,
    };
    for (const { position } of this.#readers.values()) position.meet(envelope);
    this.#entries.push(this.#positions.met(entry));
    this.#tails.tell(entry);
    if (pending.length === 0) this.#settleUnheard();
    // The message comes again after a crash: how far others are behind is counted anew.
    else if (pending.length < concerned.length) this.#passed(entry, this.#parts.runtime.nowMs());
    this.#wake();
  }

  /** One reader is past it: the others are behind. */
  #passed(entry: ReaderEntry, nowMs: number): void {
    if (entry.passed) return;
    entry.passed = true;
    for (const behind of entry.pending) behind.lag.add(entry, nowMs);
  }

  /**
   * Messages for others, and those of members whose key is not trusted, are only for readers that
   * want everything.
   */
  #isForUs({ kind, sender, to }: Envelope): boolean {
    return kind === "message" && sender.keyUnchanged &&
      (to === undefined || to.includes(this.#parts.agentId));
  }

  /** A reader that does not exist yet would begin with all that are there. */
  #waitsFor({ envelope, pending }: ReaderEntry, reader: DurableReader | undefined): boolean {
    return reader === undefined ? this.#isForUs(envelope) : pending.has(reader);
  }

  async #next(
    reader: DurableReader,
    loop: Loop,
    manual: boolean,
  ): Promise<ReadMessage | undefined> {
    for (;;) {
      reader.askedAtMs = this.#parts.runtime.nowMs();
      if (loop.ended) return undefined;
      const entry = this.#findNext(reader, loop);
      if (entry !== undefined) return this.#give(entry, reader, loop, manual);
      if (this.#over !== undefined) {
        if (this.#over.error !== undefined) throw this.#over.error;
        return undefined;
      }
      await waiting(loop, new Promise<void>((resolve) => this.#wakers.push(resolve)));
    }
  }

  /**
   * Returns more messages for a loop. When several loops share a reader, one that waits gets a
   * message rather than one that has some.
   */
  #more(reader: DurableReader, loop: Loop, count: number): ReadMessage[] {
    const messages: ReadMessage[] = [];
    if (loop.ended || [...reader.loops].some(({ waiting }) => waiting)) return messages;
    for (let bytes = 0; messages.length < count;) {
      const entry = this.#findNext(reader, loop);
      if (entry === undefined) break;
      bytes += sizeOf(entry.envelope);
      if (bytes > maxMoreBytes) {
        reader.next = Math.min(reader.next, entry.number);
        break;
      }
      messages.push(this.#give(entry, reader, loop, false));
    }
    return messages;
  }

  #give(entry: ReaderEntry, reader: DurableReader, loop: Loop, manual: boolean): ReadMessage {
    const missed = this.#tellMissed(reader);
    reader.given.set(entry, { loop, missed });
    const { envelope, envelope: { sequence } } = entry;
    const more = { ...(manual && { sequence }), ...(missed > 0 && { missed }) };
    const done = (durable: boolean): Promise<void> => this.#acknowledge(reader, [entry], durable);
    const giveBack = (): void => this.#giveBack(reader, [entry]);
    const ways = manual
      ? { ack: () => done(true) }
      : { pass: () => done(false), finish: () => done(true) };
    return { envelope, more, giveBack, ...ways };
  }

  /** How many messages it was set past, told once. */
  #tellMissed(reader: DurableReader): number {
    const { missed } = reader;
    reader.missed = 0;
    if (missed > 0) this.#positions.note(reader).catch(() => {}); // told again after a crash
    return missed;
  }

  #findNext(reader: DurableReader, { all }: Loop): ReaderEntry | undefined {
    let [isKept, hasGone] = [false, false];
    for (let at = indexOf(this.#entries, reader.next); at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry === undefined) break;
      const isOpen = entry.pending.has(reader) && !reader.given.has(entry);
      const isWanted = all || this.#isForUs(entry.envelope);
      // The entry waits for a loop of this reader that wants all.
      if (isOpen && !isWanted && wantsAll(reader)) {
        isKept = true;
        continue;
      }
      if (!isKept) reader.next = entry.number + 1;
      if (isOpen && isWanted) return entry;
      // The loop that wanted all has gone.
      if (isOpen) hasGone = entry.pending.delete(reader);
    }
    if (hasGone) this.#settleUnheard();
    return undefined;
  }

  /** `durable`: resolves when it is on disk that they never come again to this reader. */
  async #acknowledge(
    reader: DurableReader,
    entries: readonly ReaderEntry[],
    durable: boolean,
  ): Promise<void> {
    const own = entries.filter((entry) => entry.pending.delete(reader));
    if (own.length === 0) return;
    const nowMs = this.#parts.runtime.nowMs();
    for (const entry of own) {
      reader.given.delete(entry);
      reader.lag.passed(entry);
      reader.position.pass(placeOf(entry), entry.arrival);
      if (entry.pending.size > 0) this.#passed(entry, nowMs);
    }
    const crowd = this.#entries[maxOpen];
    const isCrowded = crowd !== undefined && reader.position.reaches(placeOf(crowd));
    const isNews = isCrowded || own.some(({ pending }) => pending.size > 0);
    const noted = this.#positions.acknowledged(reader, own, isNews);
    const last = own.findLast(({ pending }) => pending.size === 0);
    if (last !== undefined) reader.passing.settled = last.envelope;
    const settled = this.#settle(durable);
    this.#setForward(nowMs);
    const all = Promise.all([...noted, ...settled]).finally(() => this.#unwritten -= own.length);
    this.#unwritten += own.length;
    all.catch(() => {});
    if (durable || this.#unwritten >= maxAhead / 2) this.#positions.hurry();
    if (durable || this.#unwritten > maxAhead || settled.length > 0) await all;
  }

  /**
   * Lets go of those that every reader is past, and acknowledges them. The promises are those of
   * the disk: all of them when it is to be durable, otherwise those that a loop far ahead of it has
   * to wait for.
   */
  #settle(durable: boolean): Promise<void>[] {
    const done = this.#entries.filter(({ pending }) => pending.size === 0);
    if (done.length === 0) return [];
    this.#entries = this.#entries.filter(({ pending }) => pending.size > 0);
    return done.flatMap(({ envelope }) => (durable ? envelope.ack() : envelope.pass()) ?? []);
  }

  /** One that fails comes again, to readers that are past it. */
  #settleUnheard(): void {
    for (const settled of this.#settle(false)) settled.catch(() => {});
  }

  /** Readers that are too far behind the fastest are set past what they have not read. */
  #setForward(nowMs: number): void {
    for (const reader of this.#readers.values()) {
      const entries = reader.lag.giveUp(nowMs);
      if (entries.length === 0) continue;
      for (const entry of entries) {
        entry.pending.delete(reader);
        reader.given.delete(entry);
        reader.position.pass(placeOf(entry), entry.arrival);
      }
      reader.missed += entries.length;
      this.#positions.note(reader).catch(() => {});
      this.#positions.hurry();
      this.#settleUnheard();
    }
  }

  /** Messages that it was given go to the next loop. */
  #leave(reader: DurableReader, loop: Loop): void {
    if (loop.ended) return;
    loop.ended = true;
    reader.loops.delete(loop);
    this.#giveBack(reader, givenTo(reader, loop));
  }

  #giveBack(reader: DurableReader, entries: readonly ReaderEntry[]): void {
    for (const entry of entries) {
      const given = reader.given.get(entry);
      if (given === undefined) continue;
      reader.given.delete(entry);
      reader.next = Math.min(reader.next, entry.number);
      reader.missed += given.missed;
      // told of with this one again
      if (given.missed > 0) this.#positions.note(reader).catch(() => {});
    }
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }
}
