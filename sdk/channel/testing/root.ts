/** The root of a channel, for tests that try every order of its events. */
export { stepRoot } from "../root/root.ts";
export {
  newRoot,
  type RelayEndReason,
  type RootEffect,
  type RootEvent,
  type RootFacts,
  type RootState,
  type ToDuties,
} from "../root/root_state.ts";
