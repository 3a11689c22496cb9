/** The machine of leaving a channel, for tests that try every order of its events. */
export { stepDeparture } from "../departure/departure.ts";
export {
  type DepartureEvent,
  type DepartureFacts,
  type DepartureState,
  isAskedFor,
  newDeparture,
  stageOf,
  timersOf,
} from "../departure/departure_state.ts";
