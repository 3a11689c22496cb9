/** The machine of confirmations, for tests that try every order of its events. */
export { stepConfirmations } from "../upkeep/confirmation.ts";
export {
  type ConfirmationEvent,
  type ConfirmationFacts,
  type ConfirmationRecords,
  type ConfirmationState,
  restoreConfirmations,
} from "../upkeep/confirmation_state.ts";
export { heardBy } from "../upkeep/fork_watch.ts";
export {
  claimsBehind,
  type EpochClaim,
  lastConfirmed,
  lastHeardMs,
} from "../upkeep/waiting_claims.ts";
