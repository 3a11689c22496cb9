/** The machine of a member's duties, for tests that try every order of its events. */
export { stepDuties } from "../upkeep/duties.ts";
export {
  type DutyEffect,
  type DutyEvent,
  type DutyFacts,
  type DutyState,
  type DutyStep,
  newDuties,
  openRequests,
  type RejoinAsker,
  timersOf,
} from "../upkeep/duties_state.ts";
