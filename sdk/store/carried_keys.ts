/**
 * Keys of live records, which go on from period to period. They lie in rows behind one another, as
 * a key list has them: so a list is sealed without making it anew, and a key that is dropped is
 * wiped.
 *
 *   row   tag (16) | key (32)
 *
 * A tag is the beginning of a record's HMAC.
 */
import { keyBytes } from "../../wasm/mod.ts";
import { kindPrefixBytes } from "./names.ts";

const tagBytes = 16;
export const rowBytes: number = tagBytes + keyBytes;
const firstRows = 64;

export class CarriedKeys {
  #rows: Uint8Array<ArrayBuffer> = new Uint8Array(firstRows * rowBytes);
  /** The text of the record's name for each row. */
  readonly #texts: string[] = [];
  readonly #places: Map<string, number> = new Map();

  /** Valid until the next change. */
  get(text: string): Uint8Array | undefined {
    const place = this.#places.get(text);
    return place === undefined
      ? undefined
      : this.#rows.subarray(place * rowBytes + tagBytes, (place + 1) * rowBytes);
  }

  /** Adds the key of a record that has none here. */
  add(text: string, key: Uint8Array): void {
    const place = this.#texts.push(text) - 1;
    this.#places.set(text, place);
    if (this.#rows.length < this.#texts.length * rowBytes) this.#grow();
    const at = place * rowBytes;
    for (let i = 0; i < tagBytes; i++) this.#rows[at + i] = text.charCodeAt(kindPrefixBytes + i);
    this.#rows.set(key, at + tagBytes);
  }

  /** The last row takes its place. */
  delete(text: string): void {
    const place = this.#places.get(text);
    const last = this.#texts.pop();
    if (last === undefined) return;
    if (place === undefined) return void this.#texts.push(last);
    const from = this.#texts.length * rowBytes;
    this.#rows.copyWithin(place * rowBytes, from, from + rowBytes);
    this.#rows.fill(0, from, from + rowBytes);
    if (last !== text) {
      this.#texts[place] = last;
      this.#places.set(last, place);
    }
    this.#places.delete(text);
  }

  /** All rows, so many in a part, at least one part. Valid until the next change. */
  parts(rows: number): Uint8Array[] {
    const count = Math.max(1, Math.ceil(this.#texts.length / rows));
    const all = this.#rows.subarray(0, this.#texts.length * rowBytes);
    return Array.from(
      { length: count },
      (_, part) => all.subarray(part * rows * rowBytes, (part + 1) * rows * rowBytes),
    );
  }

  wipe(): void {
    this.#rows.fill(0);
    this.#texts.length = 0;
    this.#places.clear();
  }

  #grow(): void {
    const rows = new Uint8Array(2 * this.#rows.length);
    rows.set(this.#rows);
    this.#rows.fill(0);
    this.#rows = rows;
  }
}

/** Returns the tag in the text of a record's name. Behind a kind's prefix, a name is an HMAC. */
export function tagOf(text: string): string {
  return text.slice(kindPrefixBytes, kindPrefixBytes + tagBytes);
}

export function tagIn(row: Uint8Array): Uint8Array {
  return row.subarray(0, tagBytes);
}

export function keyIn(row: Uint8Array): Uint8Array {
  return row.subarray(tagBytes);
}
