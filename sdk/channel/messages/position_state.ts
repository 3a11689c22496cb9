/**
 * How far the application has come, and how far of that is on disk. It is plain data, and
 * `stepPosition` alone changes it. The changes that are written lie with the runner: here they are
 * counted.
 */

/** The write under way, or the one that is about to be made. */
export type WritingStage =
  /** Nothing is worth a write of its own. */
  | { readonly at: "resting" }
  /**
   * Until `turn` ends: all that is noted in one turn of the event loop is one write. It goes then
   * if it is `isHurried`.
   */
  | {
    readonly at: "gathering";
    readonly turn: number;
    readonly isHurried: boolean;
    readonly pace: WritePace;
  }
  /** Others may be noted, until the timer ends. */
  | { readonly at: "collecting"; readonly timer: number; readonly pace: WritePace }
  /** Changes and position go to disk as one. */
  | {
    readonly at: "writing";
    readonly call: number;
    /** On disk when it ends. */
    readonly position: number;
    readonly messages: number;
    readonly life: number;
    /** They are told when it ends. */
    readonly waiting: readonly number[];
    readonly isHurried: boolean;
    readonly pace: WritePace;
  }
  /** The relay is told, and keys of older epochs are deleted. */
  | {
    readonly at: "telling";
    readonly call: number;
    readonly isHurried: boolean;
    readonly pace: WritePace;
  };

/**
 * `free`: nothing was written just now, so that those who wait begin a write at once. `paced`: they
 * wait for a moment, and those that come meanwhile go together; `timer` runs since the first of
 * them has asked.
 */
export type WritePace =
  | { readonly is: "free" }
  | { readonly is: "paced"; readonly timer: number | undefined };

export interface PositionState {
  writing: WritingStage;
  /** The last entry whose delivery is on disk. Entries up to it are never delivered again. */
  durable: number;
  /** `durable` was a place in another log, and none of this log is on disk yet. */
  isVoid: boolean;
  /**
   * Counts how often the position was set anew. A write from an earlier life says nothing about the
   * new position.
   */
  life: number;
  /** Messages that the application is done with, and that would come again after a crash now. */
  ahead: number;
  /** Changes that were noted, and that no write has taken yet. */
  changes: number;
  /** They wait for the write that holds what was noted before they asked. */
  waiting: readonly number[];
  /** A position alone is written when it ends. */
  later: { readonly timer: number } | undefined;
  /** Nothing is begun any more. `failed`: a write has failed, and what it held is nowhere. */
  end: "none" | "stopped" | "failed";
  /** The last number that was given to a call, a turn or a timer. */
  numbers: number;
}

/** Knowledge of the other rooms at the moment of a step. */
export interface PositionFacts {
  /** The place in the log up to which the application is done. */
  readonly position: number;
}

export type PositionEvent =
  /**
   * The application is done with so many messages, or the log moved on past entries that are not
   * for it.
   */
  | { readonly type: "noted"; readonly changes: number; readonly messages: number }
  /** Somebody waits for what was noted so far. `isUrgent`: without a rest. */
  | { readonly type: "asked"; readonly operation: number; readonly isUrgent: boolean }
  /** The turn of the event loop has ended. */
  | { readonly type: "gathered"; readonly turn: number }
  /** A timer has run out: the write is made. */
  | { readonly type: "time"; readonly timer: number }
  /** The write is on disk. */
  | { readonly type: "written"; readonly call: number }
  /** The write has failed: everything that waits for it fails, too. */
  | { readonly type: "failed"; readonly call: number }
  /** The relay was told, and keys of older epochs are deleted. */
  | { readonly type: "told"; readonly call: number }
  /**
   * The relay's log goes on in front of this entry, which may be before the place where we were.
   */
  | { readonly type: "lost"; readonly position: number }
  /** The place belongs to another log. */
  | { readonly type: "forgotten" }
  /** Another membership: nothing that came before is read any more. */
  | { readonly type: "entered"; readonly position: number }
  /** The channel closes: no write is begun any more. */
  | { readonly type: "stop" };

export type PositionEffect =
  | { readonly type: "gather"; readonly turn: number }
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  /** All changes that were noted, and the position unless it is behind the one on disk. */
  | { readonly type: "write"; readonly call: number; readonly hasPosition: boolean }
  | { readonly type: "tell"; readonly call: number; readonly position: number }
  /** Readers that waited for the disk go on. */
  | { readonly type: "near" }
  /** `isLost`: it will not be on disk. */
  | { readonly type: "settle"; readonly operation: number; readonly isLost: boolean };

export const resting: WritingStage = Object.freeze({ at: "resting" });
export const free: WritePace = Object.freeze({ is: "free" });

/** Restores the position of a process that starts. */
export function restorePosition(position: number): PositionState {
  return {
    writing: resting,
    durable: position,
    isVoid: false,
    life: 0,
    ahead: 0,
    changes: 0,
    waiting: nobody,
    later: undefined,
    end: "none",
    numbers: 0,
  };
}

/** Returns the timers that the state waits for. */
export function timersOf({ writing, later, end }: PositionState): readonly (number | undefined)[] {
  if (end !== "none") return nobody;
  const pace = "pace" in writing && writing.pace.is === "paced" ? writing.pace.timer : undefined;
  return [later?.timer, "timer" in writing ? writing.timer : undefined, pace];
}

/**
 * Without everything that is in memory alone: `restorePosition` must make the same of the position
 * on disk.
 */
export function forgetPosition({ durable }: PositionState): PositionState {
  return restorePosition(durable);
}

export const nobody: readonly number[] = Object.freeze([]);
