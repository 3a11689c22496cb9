/**
 * A move of a schedule. It has randomness of its own, so that leaving out another one does not
 * change it.
 */
import type { Random } from "../../support/mod.ts";
import type { Play } from "./play.ts";

export interface MoveKind {
  /** How often it is picked, compared with the others. */
  readonly weight: number;
  /** Returns a description of the move, or undefined when there was nothing to do. */
  readonly run: (play: Play, random: Random) => Promise<string | undefined> | string | undefined;
}

export type MoveTable = Readonly<Record<string, MoveKind>>;
