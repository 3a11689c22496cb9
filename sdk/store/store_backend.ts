/**
 * The interface that the store needs from a runtime. Implementations: `memory.ts` here, and those
 * of `sdk/platform`.
 */

export type BlobChange =
  | { readonly type: "put"; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: "del"; readonly key: Uint8Array };

export interface Blob {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Ordered bytes to bytes. Holds the exclusive lock from its opening to `close`. */
export interface BlobStore {
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** All or nothing, in order, and durable when it resolves. */
  write(changes: readonly BlobChange[]): Promise<void>;
  /** Every blob whose key starts with the prefix, in key order. */
  list(prefix: Uint8Array): AsyncIterable<Blob>;
  close(): Promise<void>;
}

/** The small file with the data key in it, readable by its owner alone. */
export interface KeyStorage {
  read(): Promise<Uint8Array | undefined>;
  /** Replaces it at once or not at all, durably. */
  write(bytes: Uint8Array): Promise<void>;
}

/**
 * A few bytes kept apart from the blobs, written after every acknowledged batch. It need not be
 * durable at once: it may lag behind the blobs after a power failure, and must never run ahead of
 * them.
 */
export interface Witness {
  read(): Promise<Uint8Array | undefined>;
  write(bytes: Uint8Array): void | Promise<void>;
}

/**
 * Two places of `placeBytes` in one file, which are overwritten where they lie, and the timer after
 * which that is done; see `periods.ts`.
 */
export interface PeriodStorage {
  /** Both; undefined when there is no file. */
  read(): Promise<Uint8Array | undefined>;
  /** The file with both, durably. */
  create(places: Uint8Array): Promise<void>;
  /** Durable when it resolves, and what was there before is gone. */
  overwrite(place: 0 | 1, bytes: Uint8Array): Promise<void>;
  after(ms: number, run: () => void): () => void;
}

/** Fills an array with random bytes fit for keys. */
export type RandomSource = (length: number) => Uint8Array<ArrayBuffer>;

export interface StoreParts {
  readonly blobs: BlobStore;
  readonly keys: KeyStorage;
  /** Absent where a runtime has no second place to write to. */
  readonly witness?: Witness;
  /** Absent where a runtime cannot overwrite: then all records are sealed under the data key. */
  readonly periods?: PeriodStorage;
  readonly random: RandomSource;
}
