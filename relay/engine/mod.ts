/** The relay's storage: the interface of engines and the embedded one. */
export {
  type AppendedEntry,
  type AppendOutcome,
  type ChannelRecord,
  type Charge,
  type ClaimedKeyPackage,
  type CommitTrace,
  type CreateOutcome,
  type Engine,
  type Entry,
  type EntryHead,
  type EntryKind,
  entryKinds,
  type Gap,
  type HeldLease,
  type KeyPackagePools,
  type LeaseBook,
  type LeaseState,
  type ListQuery,
  type LogItem,
  type NewChannel,
  type NewEntry,
  type PoolCount,
  type PooledKeyPackage,
  type PoolUpload,
  type QueueSize,
  type Records,
  type Snapshot,
  type StoredRecord,
} from "./engine.ts";
export { EngineError, type EngineFault } from "./errors.ts";
export { engineLimits } from "./input.ts";
export { type MigratedFile, type Migration, migrations } from "./migrations.ts";
export {
  copyKey,
  openReplicaStore,
  openSqliteEngine,
  type ReplicaStore,
  type SqliteEngineOptions,
} from "./sqlite.ts";
