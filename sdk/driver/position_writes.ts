/** Positions of durable readers on their way to disk: one write at a time, and those that nobody waits for collect for a moment. */
import { createDeferred } from "../base/deferred.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Reader } from "./reader_entry.ts";
import type { ReaderRecords } from "./reader_records.ts";

/** As the channel's own progress does: both are as far behind after a crash. */
const collectMs = 50;

export class PositionWrites {
  readonly #records: Pick<ReaderRecords, "write">;
  readonly #after: Runtime["after"];
  /** Readers whose position has changed since the last write. */
  readonly #dirty = new Set<Reader>();
  #last: Promise<void> | undefined;
  /** It will take all that is dirty. */
  #next: Promise<void> | undefined;
  /** Resolved when it must not wait any longer. */
  #hurry = createDeferred<void>();

  constructor(records: Pick<ReaderRecords, "write">, after: Runtime["after"]) {
    this.#records = records;
    this.#after = after;
  }

  /** Resolves when the reader's position as it is now is on disk. */
  note(reader: Reader): Promise<void> {
    this.#dirty.add(reader);
    return this.#last = this.#next ??= this.#write(this.#last);
  }

  /** Somebody waits for what was noted. */
  hurry(): void {
    if (this.#next !== undefined) this.#hurry.resolve();
  }

  /** Its position is written no more, but for a write that is under way. */
  forget(reader: Reader): void {
    this.#dirty.delete(reader);
  }

  /** Resolves when everything noted is on disk. Rejects when the last write failed. */
  async flush(): Promise<void> {
    this.hurry();
    await this.#last;
  }

  async #write(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {});
    // At least everything of this turn of the event loop goes into one write.
    await Promise.resolve();
    const cancel = this.#after(collectMs, this.#hurry.resolve);
    await this.#hurry.promise;
    cancel();
    this.#hurry = createDeferred();
    this.#next = undefined;
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    if (dirty.length === 0) return;
    try {
      await this.#records.write(
        dirty.map(({ name, position, missed }) => ({ name, position, missed, deleted: false })),
      );
    } catch (error) {
      for (const reader of dirty) this.#dirty.add(reader);
      throw error;
    }
  }
}
