/**
 * The machine of a channel's stops, generations and ways back, for tests that try every order of
 * its events.
 */
export { stepRecovery } from "../recovery/recovery.ts";
export {
  applied,
  forget,
  noRecords,
  type RecoveryRecords,
  restore,
} from "../recovery/recovery_records.ts";
export { backOf, badOf, timersOf } from "../recovery/recovery_run.ts";
export { mayHear } from "../recovery/way_back.ts";
export type {
  ExclusionChoice,
  ReadableWelcome,
  ReceivedWelcome,
  RecoveryAnswer,
  RecoveryChange,
  RecoveryEffect,
  RecoveryEvent,
  RecoveryFacts,
  RecoveryFinding,
  RecoveryRequest,
  RecoveryState,
  RecoveryStep,
  RecoveryWork,
  RecoveryWorkResult,
  UnfollowableCommit,
  UnreadableWelcome,
} from "../recovery/recovery_state.ts";
