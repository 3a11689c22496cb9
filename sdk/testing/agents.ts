/** The SDK's insides for tests that bring their own relay and their own disk. */
export { noticedMs } from "../session/heartbeat.ts";
export { defaultTiming } from "../session/session.ts";
export { Agent } from "../channel/agent.ts";
export { OwnBadges } from "../channel/own_badges.ts";
export { putAnchor } from "../channel/connection/anchor.ts";
export { putConfirmed, putState } from "../channel/upkeep/confirmation_records.ts";
export { createPace } from "../channel/upkeep/healing_pace.ts";
export { Inside } from "./inside.ts";
export type { BadCommit } from "../channel/recovery/bad_commit.ts";
export type { MemberOrigin } from "../channel/group/lineage.ts";
export { factsKind } from "../channel/channel_kinds.ts";
export { newChannelRecord, putChannel, putLandmarks } from "../channel/records.ts";
export { storedChannel } from "../channel/testing/stored_channel.ts";
export { connectAgent } from "../api/connect_agent.ts";
export { ServiceBadge } from "../api/service_badge.ts";
export { type AgentService, createService } from "../session/service.ts";
export { readBadges, shownBadges } from "../mls/badges.ts";
export { MlsFault } from "../mls/codec.ts";
export { stateOf } from "../mls/epoch.ts";
export { createError, errorFromRelay, StaticError } from "../base/errors.ts";
export { DurableGroup } from "../mls/durable_group.ts";
export { kindOf } from "../mls/stored_group.ts";
export { Group } from "../mls/group.ts";
export { type MlsIdentity, openIdentity } from "../mls/identity.ts";
export {
  createKeyPackage,
  decodeKeyPackageMessage,
  keyPackageReference,
  type OwnKeyPackage,
} from "../mls/key_package.ts";
export { createSealKey } from "../mls/crypto/seal_layer.ts";
export { readyToJoin } from "../mls/welcome.ts";
export {
  type KeyPackageChange,
  signedAnew,
  withOlderLeaf,
} from "../mls/testing/odd_key_package.ts";
export { someone } from "../mls/testing/people.ts";
export { createSignatures, type Signatures } from "../mls/crypto/signatures.ts";
export { portableSignatures } from "../mls/testing/portable_signatures.ts";
export { atOnce } from "../base/interruptible_work.ts";
export { pause, type Runtime } from "../base/runtime.ts";
export type { ConnectionInfo, RelaySession, SessionState } from "../session/relay_session.ts";
export {
  createMemoryDisk,
  type MemoryDisk,
  openMemory,
  RecordStore,
  type StoreMigration,
  storeMigrations,
  type StoreParts,
} from "../store/mod.ts";
