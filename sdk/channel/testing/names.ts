/** The machine of an agent's names, for tests that try every order of its events. */
export {
  copyNames,
  forgetNames,
  type KeptChannel,
  type KeptNames,
  restoreNames,
} from "../names/kept_names.ts";
export { stepNames } from "../names/names.ts";
export type {
  NameCall,
  NameCallOutcome,
  NameJob,
  NameJobResult,
  NameRequest,
  NamesEffect,
  NamesEvent,
  NamesFacts,
  NamesState,
  NamesStep,
  NamesWrite,
} from "../names/names_state.ts";
