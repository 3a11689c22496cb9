/** The encrypted store, for the rest of the SDK and for the platforms that carry it. */
export { afterPrefix } from "./bytes.ts";
export { checkDraft, defaultCost, type PassphraseCost } from "./data_key.ts";
export { findRefusal, refusalOf } from "./disk_refusal.ts";
export { type StoreErrorCode, StoreFault } from "./errors.ts";
export { createMemoryDisk, type MemoryDisk, openMemory } from "./memory.ts";
export { storeMigrations } from "./formats.ts";
export type { StoreMigration, StoreReader, UpgradeValue } from "./migrations.ts";
export type { StoreOptions } from "./open_store.ts";
export type {
  Blob,
  BlobChange,
  BlobStore,
  KeyStorage,
  PeriodStorage,
  RandomSource,
  StoreParts,
  Witness,
} from "./store_backend.ts";
export { type LoadedRecord, maxValueBytes, type RecordChange } from "./record.ts";
export { RecordStore, type Verification } from "./record_store.ts";
export { decodeFields, encodeFields, StoredFields } from "./stored_fields.ts";
