/**
 * When the log is shortened: once it has grown by so much since the last copy, by the relay that
 * does what only one has to do.
 */
import { describeFailure, type Log } from "../../../server/mod.ts";
import type { LogCopies } from "./log_copies.ts";

export interface ShorteningOptions {
  readonly copies: Pick<LogCopies, "newest" | "save">;
  /** Entries between two copies. */
  readonly every: number;
  readonly position: () => number;
  /** Where a copy may be put for a moment; undefined: where the system has such files. */
  readonly folder: string | undefined;
  /** Writes everything at a position to a file, and returns the position. */
  readonly copyTo: (path: string) => Promise<number>;
  readonly purge: (through: number) => Promise<void>;
  readonly log: Log;
}

export class Shortening {
  readonly #options: ShorteningOptions;
  #last: number;
  #underWay = false;

  /** `last`: where the newest copy is, as far as is known. */
  constructor(options: ShorteningOptions, last: number) {
    this.#options = options;
    this.#last = last;
  }

  /** Does it if it is time. Never rejects; what failed is tried again. */
  async tend(): Promise<void> {
    const { every, position, log } = this.#options;
    if (this.#underWay || position() - this.#last < every) return;
    this.#underWay = true;
    try {
      await this.#shorten();
    } catch (error) {
      log("warn", "log_not_shortened", { error: describeFailure(error) });
    } finally {
      this.#underWay = false;
    }
  }

  async #shorten(): Promise<void> {
    const { copies, every, copyTo, purge, log } = this.#options;
    // Another relay may have done it while this one was not the caretaker.
    this.#last = Math.max(this.#last, (await copies.newest())?.position ?? 0);
    if (this.#options.position() - this.#last < every) return;
    const dir = this.#options.folder;
    const folder = await Deno.makeTempDir({
      ...(dir !== undefined && { dir }),
      prefix: "static-copy-",
    });
    try {
      const position = await copyTo(`${folder}/copy.sqlite`);
      // Entries behind the own copy may be in no other one.
      const through = Math.min(position, await copies.save(`${folder}/copy.sqlite`, position));
      this.#last = position;
      if (through > 0) await purge(through);
      log("info", "log_shortened", { position, through });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
}
