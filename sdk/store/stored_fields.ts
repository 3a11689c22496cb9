/**
 * Small records as CBOR lists. The store has authenticated them and brought them to the newest
 * format (`formats.ts`), so another shape is a mistake of ours.
 */
import { type CborValue, decodeOwnCbor, encodeCbor } from "../../proto/mod.ts";
import { StoreFault } from "./errors.ts";

/**
 * Throws `StoreFault` for a number that could be written but not read: one that is no whole number,
 * or too large.
 */
export function encodeFields(fields: readonly CborValue[]): Uint8Array {
  for (const field of fields) checkNumbers(field);
  return encodeCbor([...fields]);
}

function checkNumbers(value: CborValue): void {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return;
    throw new StoreFault("invalid_request", "A record can have only whole numbers up to 2^53 - 1");
  }
  if (Array.isArray(value)) return value.forEach(checkNumbers);
  if (value instanceof Map) return value.forEach((each, key) => [key, each].forEach(checkNumbers));
}

/** Throws `StoreFault`. */
export function decodeFields(record: Uint8Array, kind: string): StoredFields {
  return new StoredFields(new StoredFields([decodeOwnCbor(record)], kind).list(0), kind);
}

export class StoredFields {
  readonly #fields: readonly CborValue[];
  readonly #kind: string;

  constructor(fields: readonly CborValue[], kind: string) {
    this.#fields = fields;
    this.#kind = kind;
  }

  bytes(index: number): Uint8Array {
    const value = this.#fields[index];
    return value instanceof Uint8Array ? value : this.#refuse();
  }

  number(index: number): number {
    const value = this.#fields[index];
    return typeof value === "number" ? value : this.#refuse();
  }

  isNull(index: number): boolean {
    return this.#fields[index] === null;
  }

  /** Undefined where null was written. */
  optionalNumber(index: number): number | undefined {
    return this.isNull(index) ? undefined : this.number(index);
  }

  text(index: number): string {
    const value = this.#fields[index];
    return typeof value === "string" ? value : this.#refuse();
  }

  /** Undefined where null was written. */
  optionalText(index: number): string | undefined {
    return this.isNull(index) ? undefined : this.text(index);
  }

  flag(index: number): boolean {
    const value = this.#fields[index];
    return typeof value === "boolean" ? value : this.#refuse();
  }

  list(index: number): readonly CborValue[] {
    const value = this.#fields[index];
    return Array.isArray(value) ? value : this.#refuse();
  }

  /** A list of lists. */
  rows(index: number): StoredFields[] {
    return this.list(index).map((row) =>
      new StoredFields(Array.isArray(row) ? row : this.#refuse(), this.#kind)
    );
  }

  #refuse(): never {
    throw new StoreFault("store_corrupt", `A record of kind "${this.#kind}" has another shape`, {
      kind: this.#kind,
    });
  }
}
