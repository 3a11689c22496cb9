/**
 * Positions of durable readers on their way to disk: one write at a time, and those that nobody
 * waits for collect for a moment. After a large one there is a rest in proportion, so that readers
 * that leave much open do not wear out the disk.
 */
import { createDeferred } from "../../base/deferred.ts";
import type { Runtime } from "../../base/runtime.ts";
import { type DurableReader, placeOf, type ReaderEntry } from "./reader_entry.ts";
import type { OwedChange } from "../../content/receipts.ts";
import type { ReaderPlace } from "./reader_position.ts";
import type { ReaderRecord, ReaderRecords } from "./reader_records.ts";

/**
 * Collects for as long as the channel's own progress does: both are as far behind after a crash.
 */
const collectMs = 50;
/**
 * A write of fewer places is small. Each has up to 40 bytes: with so many in a millisecond, at most
 * 4 MB are written in a second.
 */
const [fewPlaces, placesInMs] = [64, 100];

export interface PositionWritesParts {
  readonly records: Pick<ReaderRecords, "write">;
  /** Messages that have come, and that not every reader is done with. */
  readonly entries: () => readonly ReaderEntry[];
  readonly after: Runtime["after"];
}

export class PositionWrites {
  readonly #parts: PositionWritesParts;
  /** Readers whose position has changed since the last write. */
  readonly #dirty = new Set<DurableReader>();
  readonly #owed = new Set<OwedChange>();
  /** Readers by place and id of messages that were acknowledged and have not come again. */
  readonly #ahead = new Map<string, DurableReader>();
  /** Deleted ones, of which programs may still acknowledge what they hold. */
  readonly #forgotten = new WeakSet<DurableReader>();
  #last: Promise<void> | undefined;
  /** The next write, which will take all that is dirty. */
  #next: Promise<void> | undefined;
  /** Resolved when it must not wait any longer. */
  #hurry = createDeferred<void>();
  /** After the last write. */
  #rest = createDeferred<void>();
  /** How many callers want everything written without a rest. */
  #flushes = 0;

  constructor(parts: PositionWritesParts) {
    this.#parts = parts;
    this.#rest.resolve();
  }

  /**
   * Resolves when the reader's position as it is now is on disk, and with it the receipts that are
   * owed for what it has passed.
   */
  note(reader: DurableReader, owed: readonly OwedChange[] = []): Promise<void> {
    if (this.#forgotten.has(reader)) return Promise.resolve();
    for (const each of owed) this.#owed.add(each);
    this.#dirty.add(reader);
    return this.#last = this.#next ??= this.#write(this.#last);
  }

  /** The same, of a message of a host before this one, which has not come again. */
  noteAhead(reader: DurableReader, place: ReaderPlace): Promise<void> {
    this.#ahead.set(keyAt(place), reader);
    return this.note(reader);
  }

  /** The message has come. When it was acknowledged before, its sender may want to hear of that. */
  met(entry: ReaderEntry): ReaderEntry {
    const key = keyAt(entry.envelope);
    const reader = this.#ahead.get(key);
    if (reader === undefined) return entry;
    this.#ahead.delete(key);
    const owed = entry.envelope.owe();
    if (owed !== undefined) this.note(reader, [owed]).catch(() => {}); // with the next one
    return entry;
  }

  /**
   * A program has acknowledged these. `isNews`: others have not, so that the reader's position is
   * written; else their channel writes what is owed. Returns the promise of the disk.
   */
  acknowledged(
    reader: DurableReader,
    entries: readonly ReaderEntry[],
    isNews: boolean,
  ): Promise<void>[] {
    const owed = entries.flatMap(({ envelope }) => envelope.owe() ?? []);
    return isNews ? [reader.passing.noted = this.note(reader, owed)] : [];
  }

  /** Somebody waits for what was noted. */
  hurry(): void {
    if (this.#next !== undefined) this.#hurry.resolve();
  }

  /** Resolves when it is on disk that nothing that the reader has passed comes again to it. */
  async written(reader: DurableReader): Promise<void> {
    const { noted, settled } = reader.passing;
    this.hurry();
    // One that failed when nobody waited is tried once more.
    await Promise.all([noted?.catch(() => this.#writeNow(reader)), settled?.ack()]);
  }

  async #writeNow(reader: DurableReader): Promise<void> {
    const written = this.note(reader);
    this.hurry();
    await written;
  }

  /** Forgets a reader: its position is written no more, but for a write that is under way. */
  forget(reader: DurableReader): void {
    this.#forgotten.add(reader);
    this.#dirty.delete(reader);
  }

  /** The reader stays, after all. */
  recall(reader: DurableReader): void {
    this.#forgotten.delete(reader);
    this.note(reader).catch(() => {});
  }

  /**
   * Resolves when everything noted is on disk. A write that failed is tried once more; rejects when
   * it fails again.
   */
  async flush(): Promise<void> {
    this.hurry();
    this.#rest.resolve();
    this.#flushes++;
    try {
      await this.#last?.catch(() => this.#writeRest());
    } finally {
      this.#flushes--;
    }
  }

  async #writeRest(): Promise<void> {
    const failed = this.#last;
    if (this.#dirty.size > 0) this.#last = this.#next ??= this.#write(failed);
    this.hurry();
    if (this.#last !== failed) await this.#last;
  }

  async #write(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {});
    // At least everything of this turn of the event loop goes into one write.
    await Promise.resolve();
    const cancel = this.#parts.after(collectMs, this.#hurry.resolve);
    await this.#hurry.promise;
    cancel();
    if (this.#flushes === 0) await this.#rest.promise;
    this.#hurry = createDeferred();
    this.#next = undefined;
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    if (dirty.length === 0) return;
    const records = dirty.map((reader) => this.#recordOf(reader));
    const owed = [...this.#owed];
    this.#owed.clear();
    try {
      await this.#parts.records.write(records, owed.map(({ change }) => change()));
      for (const { written } of owed) written();
    } catch (error) {
      for (const each of owed) this.#owed.add(each);
      for (const reader of dirty) if (!this.#forgotten.has(reader)) this.#dirty.add(reader);
      throw error;
    } finally {
      this.#restAfter(records);
    }
  }

  /** Returns the reader's record as it is now. */
  #recordOf(reader: DurableReader): ReaderRecord {
    const { name, position, missed } = reader;
    const pending = this.#parts.entries().filter((entry) => entry.pending.has(reader)).map(placeOf);
    return { name, position: position.state(pending), missed, deleted: false };
  }

  #restAfter(records: readonly ReaderRecord[]): void {
    const places = records.reduce(
      (sum, { position: { open, beyond } }) => sum + open.length + beyond.length,
      0,
    );
    if (places < fewPlaces) return;
    this.#rest = createDeferred();
    this.#parts.after(places / placesInMs, this.#rest.resolve);
  }
}

function keyAt({ sequence, id = "" }: ReaderPlace): string {
  return `${sequence}.${id}`;
}
