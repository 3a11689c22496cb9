/**
 * One write at a time, in order. Batches that arrive while the disk is busy are encrypted meanwhile
 * and go to it together, so many small batches share one flush. After a failed write nothing more
 * is written: whether it reached the disk cannot be known until the store is opened again.
 */
import { refusalOf } from "./disk_refusal.ts";
import type { StoreFault } from "./errors.ts";
import type { BlobChange } from "./store_backend.ts";

interface QueuedBatch {
  readonly changes: readonly BlobChange[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class BatchWriter {
  readonly #write: (changes: BlobChange[]) => Promise<void>;
  #waiting: QueuedBatch[] = [];
  #running: Promise<void> | undefined;
  #failure: StoreFault | undefined;
  #fail: (error: StoreFault) => void = () => {};
  /** Resolves with the first write that failed, if one does. */
  readonly failed: Promise<StoreFault>;

  constructor(write: (changes: BlobChange[]) => Promise<void>) {
    this.#write = write;
    this.failed = new Promise((resolve) => this.#fail = resolve);
  }

  /** Throws at once, before a caller counts on anything, when an earlier write failed. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when the changes, and all before them, are durable. */
  add(changes: readonly BlobChange[]): Promise<void> {
    this.check();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Something else that must be on disk is not. */
  fail(cause: unknown): void {
    this.#failure ??= refusalOf("Cannot write to the store", cause);
    this.#fail(this.#failure);
  }

  isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Waits for everything that was added; failures are told to those who added it. */
  async settle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        this.check();
        await this.#write(group.flatMap(({ changes }) => changes));
        for (const { resolve } of group) resolve();
      } catch (cause) {
        this.fail(cause);
        for (const { reject } of group) reject(this.#failure);
      }
    }
    this.#running = undefined;
  }
}
