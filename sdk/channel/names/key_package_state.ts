/**
 * The KeyPackages by which others bring this agent into channels, as plain data: what is under way
 * to the relay, and what waits for it.
 */

/** Why a KeyPackage was made: only those of the pool are the relay's to give away. */
export type Purpose = "handed" | "pool" | "last_resort";

/** One of ours, as far as it is asked here. */
export interface KnownKeyPackage {
  readonly id: string;
  readonly purpose: Purpose;
  readonly madeAtMs: number;
  /** It is a last resort that has led into a channel. */
  readonly isUsed: boolean;
  /** Made by a version that knew less: not every channel can take it. */
  readonly isOlder: boolean;
  /** The relay has taken it: of one whose upload failed nobody knows. */
  readonly isThere: boolean;
}

/**
 * KeyPackages at the relay, by its own word: how many it has, and how many more it takes; with a
 * connection, how many in all.
 */
export interface HeldKeyPackages {
  readonly held: number;
  readonly hasLastResort: boolean;
  readonly room: number;
}

/** Why those at the relay are looked at. */
export type RefillCause =
  /** The relay may have restarted, or hold KeyPackages whose keys were lost here. */
  | ({ readonly of: "connection" } & HeldKeyPackages)
  /** The relay asks for more. */
  | ({ readonly of: "reminder" } & HeldKeyPackages)
  /** A channel was entered: by the last resort, perhaps. */
  | { readonly of: "use" }
  /** The program wants others in place of all. */
  | { readonly of: "program"; readonly operation: number };

export interface Upload {
  readonly pool: number;
  /** A new one, or one that is here already, by its id. */
  readonly lastResort:
    | { readonly is: "new" }
    | { readonly is: "known"; readonly id: string }
    | undefined;
  /** The relay drops those that it has. */
  readonly replace: boolean;
}

/** A refill that is under way. */
export interface RefillJob {
  readonly job: number;
  readonly cause: RefillCause;
}

export type Refill =
  /** No refill is under way. */
  | { readonly at: "resting" }
  /** The disk tells which ones are here. */
  | ({ readonly at: "looking" } & RefillJob)
  /**
   * Private keys go to disk, and those that are over go from it. `there`: the relay has them, and
   * keeps them.
   */
  | ({
    readonly at: "writing";
    readonly upload: Upload | undefined;
    readonly there: readonly string[];
  } & RefillJob)
  /** `there`: what the relay has when it has taken these. */
  | (
    & { readonly at: "uploading"; readonly upload: Upload; readonly there: readonly string[] }
    & RefillJob
  )
  /** The disk learns what the relay has. */
  | ({ readonly at: "noting" } & RefillJob);

export interface KeyPackageState {
  refill: Refill;
  /** One of each kind, and each call of the program. */
  waiting: readonly RefillCause[];
  /** How many the relay takes, and we want there. */
  wanted: number;
  jobs: number;
}

export type KeyPackageEvent =
  /** A connection, a reminder of the relay, a use, or the program asks for a refill. */
  | { readonly type: "asked"; readonly cause: RefillCause }
  /** The disk has told which ones are here. */
  | { readonly type: "looked"; readonly job: number; readonly known: readonly KnownKeyPackage[] }
  /** These are made and on disk. */
  | { readonly type: "written"; readonly job: number; readonly made: readonly string[] }
  /** The relay has taken them. */
  | { readonly type: "uploaded"; readonly job: number }
  /** The disk knows what the relay has. */
  | { readonly type: "noted"; readonly job: number }
  /** The disk or the relay did not do it. */
  | { readonly type: "failed"; readonly job: number; readonly error: unknown };

export type KeyPackageEffect =
  | { readonly type: "look"; readonly job: number }
  /** In one write: these are made, those are deleted. */
  | {
    readonly type: "write";
    readonly job: number;
    readonly pool: number;
    readonly lastResort: boolean;
    readonly forget: readonly string[];
  }
  /** Uploads the KeyPackages of this job, and a last resort that was here already. */
  | { readonly type: "upload"; readonly job: number; readonly upload: Upload }
  | { readonly type: "note"; readonly job: number; readonly there: readonly string[] }
  | {
    readonly type: "answer";
    readonly operation: number;
    readonly failed: { readonly error: unknown } | undefined;
  };

export interface KeyPackageFacts {
  /** The time by the relay's clock. */
  readonly nowMs: number;
  readonly isOnline: boolean;
}

/** KeyPackages to upload, if the relay has room for so many. */
export const poolSize = 10;

export function newKeyPackages(): KeyPackageState {
  return { refill: { at: "resting" }, waiting: [], wanted: poolSize, jobs: 0 };
}
