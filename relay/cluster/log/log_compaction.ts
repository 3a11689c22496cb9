/**
 * When the log is shortened: once it has grown by so much since the last copy, by the relay that
 * does what only one has to do. A day later also when it has grown by less: what was deleted must
 * not stay in the log of a cluster that has little to do.
 */
import { describeFailure, type Log } from "../../../server/mod.ts";
import type { LogCopies } from "./log_copies.ts";

export interface LogCompactionOptions {
  readonly copies: Pick<LogCopies, "newest" | "save">;
  /** Entries between two copies. */
  readonly every: number;
  readonly position: () => number;
  /** Reads a clock that nobody sets. */
  readonly nowMs: () => number;
  /** Where a copy may be put for a moment; undefined: where the system has such files. */
  readonly folder: string | undefined;
  /** Writes everything at a position to a file, and returns the position. */
  readonly copyTo: (path: string) => Promise<number>;
  readonly purge: (through: number) => Promise<void>;
  readonly log: Log;
}

const latestMs = 24 * 60 * 60 * 1000;

export class LogCompaction {
  readonly #options: LogCompactionOptions;
  #last: number;
  #lastMs: number;
  #underWay = false;

  /** `last`: where the newest copy is, as far as is known. */
  constructor(options: LogCompactionOptions, last: number) {
    this.#options = options;
    this.#last = last;
    this.#lastMs = options.nowMs();
  }

  /** Does it if it is time. Never rejects; what failed is tried again. */
  async tend(): Promise<void> {
    const { log } = this.#options;
    if (this.#underWay || !this.#isDue()) return;
    this.#underWay = true;
    try {
      await this.#shorten();
    } catch (error) {
      log("warn", "log_not_shortened", { error: describeFailure(error) });
    } finally {
      this.#underWay = false;
    }
  }

  #isDue(): boolean {
    const { every, position, nowMs } = this.#options;
    const entries = position() - this.#last;
    return entries >= every || (entries > 0 && nowMs() - this.#lastMs >= latestMs);
  }

  async #shorten(): Promise<void> {
    const { copies, copyTo, purge, log, nowMs } = this.#options;
    // Another relay may have done it while this one was not the caretaker.
    const newest = (await copies.newest())?.position ?? 0;
    if (newest > this.#last) [this.#last, this.#lastMs] = [newest, nowMs()];
    if (!this.#isDue()) return;
    const dir = this.#options.folder;
    const folder = await Deno.makeTempDir({
      ...(dir !== undefined && { dir }),
      prefix: "static-copy-",
    });
    try {
      const position = await copyTo(`${folder}/copy.sqlite`);
      // Entries behind the own copy may be in no other one.
      const through = Math.min(position, await copies.save(`${folder}/copy.sqlite`, position));
      [this.#last, this.#lastMs] = [position, nowMs()];
      if (through > 0) await purge(through);
      log("info", "log_shortened", { position, through });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
}
