/**
 * HPACK's first-in, first-out table (RFC 7541 §§ 2.3.2, 4): a ring of fields bounded by their
 * summed size.
 */
import type { Field } from "../field.ts";

/** An entry costs at least this much, so it also bounds their number (§4.1). */
const smallestEntryBytes = 32;

export class DynamicTable {
  readonly #ring: (Field | undefined)[];
  readonly #onEvict: ((field: Field, insertion: number) => void) | undefined;
  #capacityBytes: number;
  #bytes = 0;
  #count = 0;
  /** Entries ever inserted; the newest has the number `insertions - 1`. */
  #insertions = 0;

  constructor(capacityBytes: number, onEvict?: (field: Field, insertion: number) => void) {
    this.#capacityBytes = capacityBytes;
    this.#ring = new Array(Math.max(1, Math.floor(capacityBytes / smallestEntryBytes)));
    this.#onEvict = onEvict;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#count;
  }

  get insertions(): number {
    return this.#insertions;
  }

  /** The entry inserted `age` entries before the newest (age 0). */
  get(age: number): Field | undefined {
    return age < this.#count
      ? this.#ring[(this.#insertions - 1 - age) % this.#ring.length]
      : undefined;
  }

  /** Shrinks or restores; never above the capacity of construction. */
  resize(capacityBytes: number): void {
    this.#capacityBytes = capacityBytes;
    this.#evictUntil(capacityBytes);
  }

  /**
   * An entry above the whole capacity empties the table and is not stored; that is no error (§4.4).
   */
  insert(field: Field): boolean {
    this.#evictUntil(this.#capacityBytes - field.size);
    if (field.size > this.#capacityBytes) return false;
    this.#ring[this.#insertions % this.#ring.length] = field;
    this.#insertions++;
    this.#count++;
    this.#bytes += field.size;
    return true;
  }

  #evictUntil(bytes: number): void {
    while (this.#count > 0 && this.#bytes > bytes) {
      const insertion = this.#insertions - this.#count;
      const slot = insertion % this.#ring.length;
      const field = this.#ring[slot];
      this.#ring[slot] = undefined;
      this.#count--;
      if (field === undefined) continue;
      this.#bytes -= field.size;
      this.#onEvict?.(field, insertion);
    }
  }
}
