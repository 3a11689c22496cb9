/**
 * Which log a position is of. A relay that was put back from a backup has a log that ends earlier
 * and goes on in another way: a position of the one before would lead past what was never
 * delivered. So such a relay draws another id when it first runs. It is read when the relay starts:
 * while a backup is made, the file itself has the mark by which a copy is known.
 */
import { copyKey, type Records } from "../../engine/mod.ts";

const idKey = "log/id";
const idBytes = 8;
/** For ever. */
const keptMs = 100 * 365 * 24 * 60 * 60 * 1000;

export interface LogIdDeps {
  readonly records: Records;
  readonly nowMs: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
}

export class LogId {
  readonly #deps: LogIdDeps;
  #id: Promise<Uint8Array> | undefined;

  constructor(deps: LogIdDeps) {
    this.#deps = deps;
    this.get().catch(() => {}); // the next one that asks reads it again
  }

  /** Zeros in a file that was never put back. */
  get(): Promise<Uint8Array> {
    this.#id ??= this.#read().catch((error) => {
      this.#id = undefined;
      throw error;
    });
    return this.#id;
  }

  async #read(): Promise<Uint8Array> {
    const { records, nowMs, randomBytes } = this.#deps;
    // First the mark, before anybody can have begun a backup.
    const isCopy = await records.get(copyKey) !== undefined;
    const known = await records.get(idKey);
    if (!isCopy) return known?.value ?? new Uint8Array(idBytes);
    const value = randomBytes(idBytes);
    const outcome = await records.put(
      idKey,
      { value, expiresAtMs: nowMs() + keptMs },
      known?.revision ?? 0,
    );
    // another relay on the same engine was faster
    if (outcome.kind === "conflict") return await this.#read();
    await records.delete(copyKey);
    return value;
  }
}
