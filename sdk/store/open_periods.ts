/**
 * The current period of a store that is opened: the one that its key list names. A crash may have
 * left the secret of another one beside it, which lies where the next one goes.
 */
import { type Aes256Gcm, keyBytes } from "../../wasm/mod.ts";
import { concat } from "./bytes.ts";
import { StoreFault } from "./errors.ts";
import type { PeriodStorage, StoreParts } from "./store_backend.ts";
import {
  decodePlace,
  emptyPlace,
  encodePlace,
  type KeyList,
  keyListPrefix,
  Period,
  type PeriodSecret,
  placeBytes,
  readKeyList,
} from "./periods.ts";
import type { RecordIndex } from "./record_index.ts";

export interface OpenPeriods {
  readonly storage: PeriodStorage;
  readonly period: Period;
  /** How many parts the key list has. */
  readonly parts: number;
}

interface PeriodContext {
  readonly tools: { readonly periodGcm: Aes256Gcm };
  readonly index: RecordIndex;
  readonly isNew: boolean;
}

interface FoundPeriods {
  readonly periods: OpenPeriods | undefined;
  readonly fault: StoreFault | undefined;
}

/** With a fault, the period is what is left of it: what it does not open is damaged. */
export async function openPeriods(
  parts: StoreParts,
  { tools, index, isNew }: PeriodContext,
): Promise<FoundPeriods> {
  const storage = parts.periods;
  if (storage === undefined) return { periods: undefined, fault: undefined };
  if (isNew) {
    return { periods: await createPeriods(parts, storage, tools.periodGcm), fault: undefined };
  }
  const file = await storage.read();
  const places = [0, placeBytes].map((at) =>
    file && decodePlace(file.subarray(at, at + placeBytes), tools.periodGcm)
  );
  const list = await readKeyList(parts.blobs.list(keyListPrefix));
  const named = places.find((place) => place !== undefined && place.number === list.number);
  const period = new Period(named ?? substitute(parts, places, list));
  const fault = period.load(list, index) && named !== undefined ? undefined : lost(file, named);
  return { periods: { storage, period, parts: list.parts.length }, fault };
}

async function createPeriods(
  { random }: StoreParts,
  storage: PeriodStorage,
  gcm: Aes256Gcm,
): Promise<OpenPeriods> {
  const first: PeriodSecret = { number: 1, secret: random(keyBytes) };
  await storage.create(concat(emptyPlace, encodePlace(first, { gcm, random })));
  return { storage, period: new Period(first), parts: 0 };
}

/**
 * In place of the period that is lost: one that comes after all that there were, or was the last.
 */
function substitute(
  { random }: StoreParts,
  places: readonly (PeriodSecret | undefined)[],
  list: KeyList,
): PeriodSecret {
  const newest = Math.max(list.number, ...places.map((place) => place?.number ?? 0));
  return places.find((place) => place?.number === newest) ??
    { number: newest, secret: random(keyBytes) };
}

function lost(file: Uint8Array | undefined, named: PeriodSecret | undefined): StoreFault {
  const why = file === undefined
    ? "its period file is missing"
    : named === undefined
    ? "its period file is damaged, or from another time than its database"
    : "its key list is damaged";
  const text =
    `Cannot open the store: ${why}; without it records with secrets cannot be read. Restore the whole directory, or ` +
    "open it to read what is left";
  return new StoreFault("store_corrupt", text, { kind: "period" });
}
