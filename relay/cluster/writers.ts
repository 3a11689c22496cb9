/**
 * The writers to a shared log, and which of their batches count. Batches are published without a condition, so one may
 * arrive twice, late, or without its predecessor. Every relay judges alike: the next number of a known writer counts,
 * everything else does not.
 */
import type { Batch } from "./batch.ts";

/**
 * `counts`; `late`: a copy of one that counted; `void`: its predecessor is missing, and its writer sends both again; `fenced`: its
 * writer was given up, and must begin a new life.
 */
export type Standing = "counts" | "late" | "void" | "fenced";

export interface Writer {
  readonly relay: string;
  last: number;
  /** Where in the log its last batch is that counted. */
  at: number;
}

export class Writers {
  readonly #writers = new Map<string, Writer>();

  constructor(known: Iterable<readonly [string, Writer]> = []) {
    for (const [id, writer] of known) this.#writers.set(id, { ...writer });
  }

  take({ writer: id, relay, number }: Pick<Batch, "writer" | "relay" | "number">, position: number): Standing {
    const writer = this.#writers.get(id);
    if (writer === undefined) {
      if (number !== 1) return "fenced";
      this.#writers.set(id, { relay, last: 1, at: position });
      return "counts";
    }
    if (number <= writer.last) return "late";
    if (number > writer.last + 1) return "void";
    writer.last = number;
    writer.at = position;
    return "counts";
  }

  /** The relay has written behind a position, so it was not silent there. */
  hasWritten(relay: string, behind: number): boolean {
    return [...this.#writers.values()].some((writer) => writer.relay === relay && writer.at > behind);
  }

  /** Gives up all lives of a relay but this one. */
  giveUp(relay: string, except?: string): void {
    for (const [id, writer] of this.#writers) {
      if (writer.relay === relay && id !== except) this.#writers.delete(id);
    }
  }

  /** Gives up all but this one. */
  keepOnly(id: string): void {
    for (const other of [...this.#writers.keys()]) if (other !== id) this.#writers.delete(other);
  }

  has(id: string): boolean {
    return this.#writers.has(id);
  }

  [Symbol.iterator](): IterableIterator<[string, Writer]> {
    return this.#writers.entries();
  }
}
