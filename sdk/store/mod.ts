/** The encrypted store, for the rest of the SDK and for the platforms that carry it. */
export { afterPrefix } from "./bytes.ts";
export { defaultCost, type PassphraseCost } from "./data_key.ts";
export { StoreError, type StoreErrorCode } from "./errors.ts";
export { createMemoryDisk, type MemoryDisk, openMemory } from "./memory.ts";
export type { Blob, BlobChange, BlobStore, KeyStorage, RandomBytes, StoreParts, Witness } from "./parts.ts";
export { maxValueBytes } from "./record.ts";
export {
  type RecordChange,
  RecordStore,
  type Schema,
  type StoredRecord,
  type StoreOptions,
  type Verification,
} from "./record_store.ts";
export { decodeFields, encodeFields } from "./stored_fields.ts";
