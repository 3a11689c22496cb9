/**
 * The records of the room, as plain data: a process that starts makes its state of them, and each
 * change of a step is applied to them. A state without what a process alone knows is the one that
 * its disk makes: `restore(records) = forget(state)`.
 */
import type { ForeignGeneration } from "./foreign_generation.ts";
import type {
  MadeFounding,
  RecoveryChange,
  RecoveryPlace,
  RecoveryState,
  UnfollowableCommit,
} from "./recovery_state.ts";

export interface RecoveryRecords {
  readonly stopped: UnfollowableCommit | undefined;
  readonly foreign: ForeignGeneration | undefined;
  readonly foundings: readonly Pick<
    MadeFounding,
    "hash" | "generation" | "badCommit" | "base" | "members" | "without"
  >[];
  readonly returnedMs: number | undefined;
  readonly cameBackMs: readonly number[];
}

export const noRecords: RecoveryRecords = {
  stopped: undefined,
  foreign: undefined,
  foundings: [],
  returnedMs: undefined,
  cameBackMs: [],
};

export function restore(
  { stopped, foreign, foundings, returnedMs, cameBackMs }: RecoveryRecords,
): RecoveryState {
  return {
    place: placeFrom(stopped, foreign),
    // Nobody knows whether they were sent.
    made: foundings.map((made) => ({ ...made, isSent: true, isRefused: false })),
    founding: { at: "none" },
    recovering: [],
    without: [],
    waits: 0,
    refusals: 0,
    settling: undefined,
    opening: undefined,
    asked: 0,
    isLeftFor: false,
    isRemoved: false,
    isHalted: false,
    returnedMs,
    cameBackMs,
    isProven: false,
    own: undefined,
    spent: [],
    numbers: 0,
    isOver: false,
  };
}

function placeFrom(
  bad: UnfollowableCommit | undefined,
  foreign: ForeignGeneration | undefined,
): RecoveryPlace {
  if (foreign !== undefined) return { at: "apart", foreign, bad };
  return bad === undefined
    ? { at: "in_step" }
    : { at: "stopped", bad, askers: [], back: undefined };
}

/**
 * The state without everything that is in memory alone. Each field is named: a new one must say
 * where it lives.
 */
export function forget(state: RecoveryState): RecoveryState {
  const { place, made, returnedMs, cameBackMs, ...memory } = state;
  const empty: typeof memory = {
    founding: { at: "none" },
    recovering: [],
    without: [],
    waits: 0,
    refusals: 0,
    settling: undefined,
    opening: undefined,
    asked: 0,
    isLeftFor: false,
    isRemoved: false,
    isHalted: false,
    isProven: false,
    own: undefined,
    spent: [],
    numbers: 0,
    isOver: false,
  };
  return {
    ...empty,
    place: forgetPlace(place),
    made: made.map((each) => ({ ...each, isSent: true, isRefused: false })),
    returnedMs,
    cameBackMs,
  };
}

/** A way back begins again when the reason for it is found again. */
function forgetPlace(place: RecoveryPlace): RecoveryPlace {
  switch (place.at) {
    case "in_step":
    case "apart":
      return place;
    case "stopped":
      return { ...place, askers: [], back: undefined };
    case "outside":
      return { at: "in_step" };
  }
}

export function applied(
  records: RecoveryRecords,
  changes: readonly RecoveryChange[],
): RecoveryRecords {
  return changes.reduce(apply, records);
}

function apply(records: RecoveryRecords, change: RecoveryChange): RecoveryRecords {
  switch (change.type) {
    case "stopped":
      return { ...records, stopped: change.bad };
    case "foreign":
      return { ...records, foreign: change.foreign };
    case "founding": {
      const { isSent: _, isRefused: __, ...made } = change.made;
      return { ...records, foundings: [...records.foundings, made] };
    }
    case "no_founding":
      return {
        ...records,
        foundings: records.foundings.filter(({ hash }) => hash !== change.hash),
      };
    case "returned":
      return { ...records, returnedMs: change.atMs };
    case "came_back":
      return { ...records, cameBackMs: change.timesMs };
    case "generation":
      return {
        ...records,
        stopped: undefined,
        foreign: undefined,
        foundings: [],
        returnedMs: undefined,
      };
    case "membership":
      return records;
  }
}
