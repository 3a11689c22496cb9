/**
 * The writers to a shared log, and which of their batches count. Batches are published without a
 * condition, so one may arrive twice, late, or without its predecessor. Every relay judges alike:
 * the next number of a known writer counts, everything else does not.
 */
import type { Batch } from "./batch.ts";

/**
 * `counts`; `late`: a copy of one that counted; `void`: its predecessor is missing, and its writer
 * sends both again; `fenced`: its writer was given up, and must begin a new life.
 */
export type BatchVerdict = "counts" | "late" | "void" | "fenced";

export interface Writer {
  readonly relay: string;
  last: number;
  /** Where in the log its last batch is that counted. */
  at: number;
}

export interface WriterEndings {
  readonly relays: readonly (readonly [relay: string, position: number])[];
  readonly floor: number;
}

export class Writers {
  readonly #writers = new Map<string, Writer>();
  /**
   * Where in the log relays were given up. A writer that began before is not new: it is a late copy
   * of its first batch.
   */
  readonly #endings: Map<string, number>;
  /** The same for all relays. */
  #floor: number;

  constructor(
    known: Iterable<readonly [string, Writer]> = [],
    endings: WriterEndings = { relays: [], floor: 0 },
  ) {
    for (const [id, writer] of known) this.#writers.set(id, { ...writer });
    this.#endings = new Map(endings.relays);
    this.#floor = endings.floor;
  }

  get endings(): WriterEndings {
    return { relays: [...this.#endings], floor: this.#floor };
  }

  take(
    { writer: id, relay, number, began = Infinity }: Pick<
      Batch,
      "writer" | "relay" | "number" | "began"
    >,
    position: number,
  ): BatchVerdict {
    const writer = this.#writers.get(id);
    if (writer === undefined) {
      if (number !== 1 || began < Math.max(this.#floor, this.#endings.get(relay) ?? 0)) {
        return "fenced";
      }
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
    return [...this.#writers.values()].some((writer) =>
      writer.relay === relay && writer.at > behind
    );
  }

  /** Gives up all lives of a relay but this one, at a position of the log. */
  giveUp(relay: string, position: number, except?: string): void {
    this.#endings.set(relay, position);
    for (const [id, writer] of this.#writers) {
      if (writer.relay === relay && id !== except) this.#writers.delete(id);
    }
  }

  /** Gives up all but this one, at a position of the log. */
  keepOnly(id: string, position: number): void {
    this.#floor = position;
    this.#endings.clear();
    for (const other of [...this.#writers.keys()]) if (other !== id) this.#writers.delete(other);
  }

  has(id: string): boolean {
    return this.#writers.has(id);
  }

  [Symbol.iterator](): IterableIterator<[string, Writer]> {
    return this.#writers.entries();
  }
}
