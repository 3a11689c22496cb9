/**
 * How the content of a store changes. Its format is a number: 1 for the first, and one more for
 * each migration of the list that it is opened with. The head holds the number of the store, and
 * each record the number of the format that it was written in. A store of an older format is
 * brought up to date when it is opened; a newer one is refused.
 */
import { StoreFault } from "./errors.ts";
import { familyOf } from "./plain_kinds.ts";
import type { LoadedRecord, RecordChange } from "./record.ts";

/** One change of format. A released change is never edited again. */
export interface StoreMigration {
  /** The difference that it makes, in words. */
  readonly name: string;
  /**
   * Turns a value of the format before into one of this. The key is a family of kinds, which is the
   * part of a kind before its first "-". Applied when such a record is read, however old it is; it
   * is written anew when it is next put.
   */
  readonly values?: Readonly<Record<string, UpgradeValue>>;
  /**
   * Whatever is more than a change of single values. Reads the store in the format before. Its
   * changes are written with the new number in one batch, so they take effect once or not at all;
   * there are at most as many as one batch may hold.
   */
  readonly changes?: (before: StoreReader) => Promise<readonly RecordChange[]>;
}

export type UpgradeValue = (value: Uint8Array, id: string) => Uint8Array;

export interface StoreReader {
  get(kind: string, id: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  list(kind: string): Promise<LoadedRecord[]>;
}

export const firstFormat = 1;

export function newestFormat(migrations: readonly StoreMigration[]): number {
  return firstFormat + migrations.length;
}

/** Throws `unsupported_version` when a store is newer than the library. */
export function checkFormat(format: number, known: number): void {
  if (format <= known) return;
  const text =
    `Cannot open the store: it has format ${format}, and this library knows formats up to ${known}. A newer ` +
    "version of the library wrote it: update this one. Nothing was changed";
  throw new StoreFault("unsupported_version", text);
}

export interface OlderValue {
  readonly kind: string;
  readonly id: string;
  readonly value: Uint8Array<ArrayBuffer>;
  /** The format in which it was written. */
  readonly from: number;
}

/** The value as the format `to` has it. */
export function upgradeValue(
  migrations: readonly StoreMigration[],
  { kind, id, value, from }: OlderValue,
  to: number,
): Uint8Array<ArrayBuffer> {
  const family = familyOf(kind);
  const steps = migrations.slice(from - firstFormat, to - firstFormat).flatMap(({ values }) =>
    values?.[family] ?? []
  );
  return new Uint8Array(steps.reduce<Uint8Array>((older, step) => step(older, id), value));
}
