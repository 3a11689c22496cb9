/** The root of a channel, for tests that try every order of its events. */
export { stepRoot } from "../root/root.ts";
export {
  newRoot,
  type RootEffect,
  type RootEvent,
  type RootFacts,
  type RootState,
  type SaidEnd,
  type ToDuties,
} from "../root/root_state.ts";
