/**
 * Everything in memory: for tests, and for agents that keep nothing. Two stores may share one
 * `MemoryDisk`, one after the other.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterPrefix, compareBytes } from "./bytes.ts";
import { StoreFault } from "./errors.ts";
import type {
  Blob,
  BlobChange,
  BlobStore,
  PeriodStorage,
  RandomSource,
  StoreParts,
} from "./store_backend.ts";

/** The data that outlives a store: the "files" of a memory store. */
export interface MemoryDisk {
  readonly blobs: Map<string, Blob>;
  key: Uint8Array | undefined;
  witness: Uint8Array | undefined;
  period: Uint8Array<ArrayBuffer> | undefined;
  locked: boolean;
}

export function createMemoryDisk(): MemoryDisk {
  return { blobs: new Map(), key: undefined, witness: undefined, period: undefined, locked: false };
}

/** With a timer, what is overwritten is forgotten as on a disk; see `periods.ts`. */
export function openMemory(
  disk: MemoryDisk,
  random: RandomSource,
  after?: PeriodStorage["after"],
): StoreParts {
  return {
    blobs: openMemoryBlobs(disk),
    keys: {
      read: () => Promise.resolve(disk.key?.slice()),
      write: (bytes) => {
        disk.key = bytes.slice();
        return Promise.resolve();
      },
    },
    witness: {
      read: () => Promise.resolve(disk.witness?.slice()),
      write: (bytes) => {
        disk.witness = bytes.slice();
      },
    },
    random,
    ...(after !== undefined && { periods: memoryPeriods(disk, after) }),
  };
}

function memoryPeriods(disk: MemoryDisk, after: PeriodStorage["after"]): PeriodStorage {
  return {
    read: () => Promise.resolve(disk.period?.slice()),
    create: (places) => {
      disk.period = new Uint8Array(places);
      return Promise.resolve();
    },
    overwrite: (place, bytes) => {
      if (disk.period?.length !== 2 * bytes.length) disk.period = new Uint8Array(2 * bytes.length);
      disk.period.set(bytes, place * bytes.length);
      return Promise.resolve();
    },
    after,
  };
}

function openMemoryBlobs(disk: MemoryDisk): BlobStore {
  if (disk.locked) {
    throw new StoreFault(
      "store_locked",
      "Cannot open the store: it is open already; close it first",
    );
  }
  disk.locked = true;
  return {
    get: (key) => Promise.resolve(disk.blobs.get(nameOf(key))?.value.slice()),
    write: (changes) => {
      for (const change of changes) apply(disk, change);
      return Promise.resolve();
    },
    list: (prefix) => list(disk, prefix),
    close: () => {
      disk.locked = false;
      return Promise.resolve();
    },
  };
}

function apply(disk: MemoryDisk, change: BlobChange): void {
  if (change.type === "del") disk.blobs.delete(nameOf(change.key));
  else disk.blobs.set(nameOf(change.key), { key: change.key.slice(), value: change.value.slice() });
}

async function* list(disk: MemoryDisk, prefix: Uint8Array): AsyncIterable<Blob> {
  const end = afterPrefix(prefix);
  const isInside = ({ key }: Blob): boolean =>
    compareBytes(key, prefix) >= 0 && (end === undefined || compareBytes(key, end) < 0);
  const blobs = [...disk.blobs.values()].filter(isInside).sort((a, b) =>
    compareBytes(a.key, b.key)
  );
  for (const { key, value } of blobs) {
    yield await Promise.resolve({ key: key.slice(), value: value.slice() });
  }
}

function nameOf(key: Uint8Array): string {
  return bytesToHex(key);
}
