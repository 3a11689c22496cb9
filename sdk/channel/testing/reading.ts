/** The machine that reads a channel's log, for tests that try every order of its events. */
export { isAfterEnd } from "../reading/endings.ts";
export { stepReading } from "../reading/reading.ts";
export {
  landmarksOf,
  type LogEntry,
  oldestEpochOf,
  positionOf,
  type ReadingEffect,
  type ReadingEvent,
  type ReadingFacts,
  type ReadingFinding,
  type ReadingRecords,
  type ReadingState,
  restoreReading,
} from "../reading/reading_state.ts";
export { Senders } from "../reading/senders.ts";
