/**
 * Everything between the parts of a runtime and a store that can be used: the data key, and what is
 * checked first. The key belongs to this store, its head is intact, its records are those that the
 * head counts, and the database is not older than its witness. Each fault is a typed error; what to
 * do about it is the caller's choice (`damaged` of the options).
 */
import { Aes256Gcm, maxSeals } from "../../wasm/mod.ts";
import { equalBytes } from "../../proto/mod.ts";
import {
  decodeKeyFile,
  defaultCost,
  encodeOwnerKey,
  encodeWrappedKey,
  type PassphraseCost,
} from "./data_key.ts";
import { createMac, type DerivedKeys, deriveKeys, type Mac, wipeKeys } from "./derived_keys.ts";
import { StoreFault } from "./errors.ts";
import { damagedHead, decodeHead, decodeWitness, type Head } from "./store_head.ts";
import { checkFormat, firstFormat, newestFormat, type StoreMigration } from "./migrations.ts";
import { headName, recordPrefix } from "./names.ts";
import type { StoreParts } from "./store_backend.ts";
import { type OpenPeriods, openPeriods } from "./open_periods.ts";
import { claimedGeneration, claimedSchema, claimsSecret, decodeRecord } from "./record.ts";
import { RecordIndex } from "./record_index.ts";

export interface OpenedStore {
  readonly tools: Tools;
  readonly index: RecordIndex;
  readonly periods: OpenPeriods | undefined;
  /** In which it was found; a new one has the newest. */
  readonly format: number;
  readonly generation: number;
  readonly seals: number;
  /** Empty, unless the caller accepts faults. */
  readonly faults: readonly StoreFault[];
  readonly isNew: boolean;
}

/** The functions that use the derived keys. */
export interface Tools {
  readonly gcm: Aes256Gcm;
  readonly indexGcm: Aes256Gcm;
  readonly periodGcm: Aes256Gcm;
  readonly nameMac: Mac;
  readonly witnessMac: Mac;
  readonly keyId: Uint8Array;
}

function createTools(keys: DerivedKeys): Tools {
  return {
    nameMac: createMac(keys.names),
    witnessMac: createMac(keys.witness),
    keyId: keys.id,
    gcm: new Aes256Gcm(keys.values),
    indexGcm: new Aes256Gcm(keys.index),
    periodGcm: new Aes256Gcm(keys.periods),
  };
}

export function destroyTools({ gcm, indexGcm, periodGcm }: Tools): void {
  for (const cipher of [gcm, indexGcm, periodGcm]) cipher.destroy();
}

/**
 * `passphrase`: absent, the key file is protected by its permissions alone. `cost`: of stretching a
 * new passphrase. `migrations`: every change of format that there was, see `migrations.ts`.
 * `damaged`: what to do when the store as a whole cannot be trusted: `refuse` to open it (default),
 * open it to `read` what is intact, or `accept` the loss and go on. A record whose content is
 * damaged never prevents opening.
 */
export interface StoreOptions {
  readonly passphrase?: string | undefined;
  readonly cost?: PassphraseCost | undefined;
  readonly damaged?: "refuse" | "read" | "accept" | undefined;
  /** Rebuild the database's own index from its data files first, where there are files. */
  readonly repair?: boolean | undefined;
  readonly migrations?: readonly StoreMigration[] | undefined;
}

export async function openParts(parts: StoreParts, options: StoreOptions): Promise<OpenedStore> {
  const dataKey = await readDataKey(parts, options);
  const keys = deriveKeys(dataKey);
  dataKey.fill(0);
  const tools = createTools(keys);
  wipeKeys(keys);
  try {
    const faults: StoreFault[] = [];
    const newest = newestFormat(options.migrations ?? []);
    const head = await collect(faults, () => readHead(parts, tools));
    if (head !== undefined) checkFormat(head.format, newest);
    const witness = await collect(faults, () => readWitness(parts, tools));
    const { index, newestSchema } = await readIndex(parts, tools);
    if (faults.length === 0) faults.push(...compare({ parts, head, witness, index }));
    const { periods, fault } = await openPeriods(parts, {
      tools,
      index,
      isNew: head === undefined && faults.length === 0,
    });
    if (fault !== undefined) faults.push(fault);
    if (faults[0] !== undefined && (options.damaged ?? "refuse") === "refuse") throw faults[0];
    // Past every generation that was ever seen. Without a head, half of the key's uses are written
    // off.
    const generation = Math.max(head?.generation ?? 0, witness ?? 0, index.newest());
    const seals = head?.seals ?? (faults.length > 0 ? maxSeals / 2 : 0);
    const isNew = head === undefined && faults.length === 0;
    // Without a head, no record is newer than the store was.
    const format = isNew ? newest : head?.format ?? Math.max(firstFormat, newestSchema);
    checkFormat(format, newest);
    return { tools, index, periods, format, generation, seals, faults, isNew };
  } catch (error) {
    destroyTools(tools);
    throw error;
  }
}

async function readHead(parts: StoreParts, tools: Tools): Promise<Head | undefined> {
  const bytes = await parts.blobs.get(headName);
  try {
    return bytes === undefined ? undefined : decodeHead(bytes, tools);
  } catch (error) {
    // Damage to the key id alone looks like a wrong key; but a wrong key opens no record.
    if (error instanceof StoreFault && await opensSomeRecord(parts, tools)) {
      throw damagedHead(error);
    }
    throw error;
  }
}

async function opensSomeRecord({ blobs }: StoreParts, { gcm }: Tools): Promise<boolean> {
  for await (const { key: name, value } of blobs.list(recordPrefix)) {
    if (claimsSecret(value)) continue;
    try {
      decodeRecord(value, { gcm, name, kind: "any" });
      return true;
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
    }
  }
  return false;
}

async function readWitness(parts: StoreParts, { witnessMac }: Tools): Promise<number | undefined> {
  const bytes = await parts.witness?.read();
  return bytes === undefined ? undefined : decodeWitness(bytes, witnessMac);
}

async function readIndex(
  parts: StoreParts,
  { indexGcm }: Tools,
): Promise<{ index: RecordIndex; newestSchema: number }> {
  const index = new RecordIndex(indexGcm);
  let newestSchema = 0;
  for await (const { key: name, value } of parts.blobs.list(recordPrefix)) {
    index.set(name, claimedGeneration(value), claimsSecret(value));
    newestSchema = Math.max(newestSchema, claimedSchema(value));
  }
  return { index, newestSchema };
}

/** Keeps a fault for later. A wrong key is not a fault of the store and ends the opening. */
async function collect<T>(faults: StoreFault[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoreFault) || error.code === "passphrase_wrong") throw error;
    faults.push(error);
    return undefined;
  }
}

interface FoundStore {
  readonly parts: StoreParts;
  readonly head: Head | undefined;
  readonly witness: number | undefined;
  readonly index: RecordIndex;
}

function compare({ parts, head, witness, index }: FoundStore): StoreFault[] {
  if (head === undefined) {
    return index.newest() === 0 && witness === undefined
      ? []
      : [untrusted("its head record is missing")];
  }
  // The first head is written before the first witness.
  if (parts.witness !== undefined && witness === undefined && head.generation > 0) {
    return [untrusted("its witness file is missing")];
  }
  if (witness !== undefined && witness > head.generation) {
    return [
      untrusted(
        `its database ends ${witness - head.generation} batches before what was acknowledged`,
      ),
    ];
  }
  if (!equalBytes(index.digest(), head.digest)) {
    return [untrusted("records are missing, or were replaced by older versions of themselves")];
  }
  return [];
}

function untrusted(why: string): StoreFault {
  const text =
    `Cannot trust the store: ${why}. It was damaged, restored in part or rolled back; restore all of it, or open ` +
    "it to read what is left";
  return new StoreFault("store_corrupt", text, { kind: "head" });
}

/** A new store writes its key file first, so no record can exist without one. */
async function readDataKey(
  parts: StoreParts,
  { passphrase, cost }: StoreOptions,
): Promise<Uint8Array> {
  const file = await parts.keys.read();
  if (file !== undefined) return await decodeKeyFile(file, passphrase);
  if (await parts.blobs.get(headName) !== undefined) {
    const text =
      "Cannot open the store: its key file is missing; without it nothing can be read, so restore it";
    throw new StoreFault("store_corrupt", text, { kind: "key file" });
  }
  const key = parts.random(32);
  await writeDataKey(parts, key, { passphrase, cost });
  return key;
}

export async function writeDataKey(
  { keys, random }: StoreParts,
  key: Uint8Array,
  { passphrase, cost = defaultCost }: {
    passphrase: string | undefined;
    cost: PassphraseCost | undefined;
  },
): Promise<void> {
  const file = passphrase === undefined
    ? encodeOwnerKey(key)
    : await encodeWrappedKey(key, { passphrase, cost, random });
  await keys.write(file);
}
