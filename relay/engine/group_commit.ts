/**
 * Group commit: writes of many callers become a few transactions and one sync. While a sync is
 * under way the next group collects. Callers are answered in the order in which they asked, and
 * only when their group is durable; readers see durable state only, so nobody is ever told of
 * something that a loss of power could take back.
 */
import { setImmediate } from "node:timers";
import { EngineError, faultOf } from "./errors.ts";

/** The storage that a group is written to. */
export interface GroupStorage {
  begin(): void;
  /** Returns whether `sync` is needed before the group counts. */
  commit(): boolean;
  /** Undoes everything since `begin`, in memory as well. */
  rollback(): void;
  sync(): Promise<void>;
  /** Upkeep between two groups. */
  checkpoint(): Promise<void>;
  /** A group is one transaction: calls that came together are in the file together. */
  readonly isWhole: boolean;
}

interface WriteJob {
  readonly bytes: number;
  run(): void;
  resolve(): void;
  reject(fault: EngineError): void;
}

export interface WriteOptions<T> {
  /** Size of what is written, for the limit of a group. */
  readonly bytes?: number;
  /** Called when the result is durable, before the caller is answered. */
  readonly onDurable?: (result: T) => void;
}

/** The most that one sync confirms. */
const maxGroupJobs = 128;
const maxGroupBytes = 4 * 1024 * 1024;
/**
 * A group is written in transactions of so many jobs, and its callers are answered so many at a
 * time, with turns of the event loop between: a whole group would block it for 3 ms, and the work
 * of its callers after it for three times as long.
 */
const sliceJobs = 32;
const answeredAtOnce = 16;

export class GroupCommit {
  readonly #storage: GroupStorage;
  readonly #onFailed: (refusal: EngineError) => void;
  #queue: WriteJob[] = [];
  #readers: (() => void)[] = [];
  #draining: Promise<void> | undefined;
  /** Something was committed that is not durable yet, or whose callers do not know it yet. */
  #unconfirmed = false;
  #refusal: EngineError | undefined;
  #jobsThisTurn = 0;
  /** Since when the disk has been asked to confirm something. */
  #askedDiskMs: number | undefined;

  constructor(storage: GroupStorage, onFailed: (refusal: EngineError) => void) {
    this.#storage = storage;
    this.#onFailed = onFailed;
  }

  /** Why no more work is taken, if so. */
  get refusal(): EngineError | undefined {
    return this.#refusal;
  }

  /** How long the disk has left something unconfirmed. */
  get diskMs(): number {
    return this.#askedDiskMs === undefined ? 0 : performance.now() - this.#askedDiskMs;
  }

  /**
   * `work` runs inside a transaction together with others; when it throws, all of that transaction
   * is undone.
   */
  write<T>(work: () => T, { bytes = 0, onDurable }: WriteOptions<T> = {}): Promise<T> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#queue.push({
        bytes,
        run: () => {
          result = work();
        },
        resolve: () => {
          onDurable?.(result);
          resolve(result);
        },
        reject,
      });
      this.#draining ??= this.#drain();
    });
  }

  /** Runs at once unless something is unconfirmed, else right after the confirmation. */
  read<T>(work: () => T): Promise<T> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return new Promise<T>((resolve, reject) => {
      const run = (): void => {
        if (this.#refusal?.code === "failed") return reject(this.#refusal);
        try {
          resolve(work());
        } catch (cause) {
          reject(faultOf("read from the relay's database", cause));
        }
      };
      if (this.#unconfirmed) this.#readers.push(run);
      else run();
    });
  }

  /** Takes no more work and resolves when what was taken is done. */
  async close(): Promise<void> {
    this.#refusal ??= new EngineError("closed", "The relay's engine is closed");
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // Calls in the same turn of the event loop belong to the first group.
    await undefined;
    while (this.#queue.length > 0) {
      const { written, needsSync } = await this.#writeGroup(this.#takeGroup());
      if (needsSync && !await this.#confirm(written)) break;
      await this.#answer(written);
      this.#runReaders();
      if (needsSync) await this.#upkeep();
      else await this.#letOthersRun(written.length);
    }
    this.#draining = undefined;
  }

  /** In slices, between which nobody reads. Jobs that were undone have been told. */
  async #writeGroup(
    group: readonly WriteJob[],
  ): Promise<{ readonly written: readonly WriteJob[]; readonly needsSync: boolean }> {
    const written: WriteJob[] = [];
    let needsSync = false;
    const atOnce = this.#storage.isWhole ? maxGroupJobs : sliceJobs;
    for (let at = 0; at < group.length; at += atOnce) {
      const slice = group.slice(at, at + atOnce);
      if (at > 0) await nextTurn();
      if (this.#refusal?.code === "failed") {
        for (const job of slice) job.reject(this.#refusal);
        continue;
      }
      const outcome = this.#execute(slice);
      if (outcome === "undone") continue;
      this.#unconfirmed = true;
      needsSync ||= outcome === "unconfirmed";
      written.push(...slice);
    }
    return { written, needsSync };
  }

  async #answer(group: readonly WriteJob[]): Promise<void> {
    for (let at = 0; at < group.length; at++) {
      if (at > 0 && at % answeredAtOnce === 0) await nextTurn();
      group[at]?.resolve();
    }
  }

  /**
   * A database in memory awaits nothing: without this, callers that do nothing else would keep
   * everybody else from running.
   */
  async #letOthersRun(jobs: number): Promise<void> {
    this.#jobsThisTurn += jobs;
    if (this.#jobsThisTurn < sliceJobs) return;
    this.#jobsThisTurn = 0;
    await nextTurn();
  }

  #takeGroup(): WriteJob[] {
    let [jobs, bytes] = [0, 0];
    for (const job of this.#queue) {
      if (jobs === maxGroupJobs || (jobs > 0 && bytes + job.bytes > maxGroupBytes)) break;
      jobs++;
      bytes += job.bytes;
    }
    const group = this.#queue;
    this.#queue = group.splice(jobs);
    return group;
  }

  #execute(group: readonly WriteJob[]): "durable" | "unconfirmed" | "undone" {
    try {
      this.#storage.begin();
      for (const job of group) job.run();
      return this.#storage.commit() ? "unconfirmed" : "durable";
    } catch (cause) {
      const fault = faultOf("write to the relay's database", cause);
      for (const job of group) job.reject(fault);
      try {
        this.#storage.rollback();
        if (fault.code === "corrupt") this.#fail(fault);
      } catch (error) {
        this.#fail(error);
      }
      return "undone";
    }
  }

  async #confirm(group: readonly WriteJob[]): Promise<boolean> {
    try {
      await this.#askDisk(() => this.#storage.sync());
      return true;
    } catch (cause) {
      const refusal = this.#fail(cause);
      for (const job of group) job.reject(refusal);
      this.#runReaders();
      return false;
    }
  }

  /** After the callers, so that a watcher is not told of something that it has already read. */
  #runReaders(): void {
    this.#unconfirmed = false;
    const readers = this.#readers;
    this.#readers = [];
    for (const run of readers) run();
  }

  async #upkeep(): Promise<void> {
    try {
      await this.#askDisk(() => this.#storage.checkpoint());
    } catch (cause) {
      this.#fail(cause);
    }
  }

  /**
   * Nothing can be done about a disk that does not answer. So it is only measured, for those who
   * can look after it.
   */
  async #askDisk(ask: () => Promise<void>): Promise<void> {
    this.#askedDiskMs = performance.now();
    try {
      await ask();
    } finally {
      this.#askedDiskMs = undefined;
    }
  }

  /**
   * After a failed sync nobody can know what the disk has: guessing could lose what was accepted,
   * so everything stops.
   */
  #fail(cause: unknown): EngineError {
    const refusal = new EngineError(
      "failed",
      "The relay's database stopped because its disk did not confirm a write. Check the disk, then restart the relay",
      { cause },
    );
    this.#refusal = refusal;
    this.#onFailed(refusal);
    for (const job of this.#queue) job.reject(refusal);
    this.#queue = [];
    return refusal;
  }
}

/** Lets everything that waits for the event loop run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
