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
  Answer as RecoveryAnswer,
  Bad,
  Choice,
  Finding,
  Opened,
  RecoveryChange,
  RecoveryEffect,
  RecoveryEvent,
  RecoveryFacts,
  RecoveryState,
  RecoveryStep,
  Request as RecoveryRequest,
  Result,
  Unopened,
  Welcomed,
  Work,
} from "../recovery/recovery_state.ts";
