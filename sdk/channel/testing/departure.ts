/** The machine of leaving a channel, for tests that try every order of its events. */
export { stepDeparture } from "../leaving/departure.ts";
export {
  type DepartureEvent,
  type DepartureFacts,
  type DepartureState,
  isAskedFor,
  newDeparture,
  stageOf,
} from "../leaving/departure_state.ts";
