/**
 * Every change of an agent's records, in order: a change of any record, MLS state included, is one
 * more item at the end of this list. Its format number is its place, plus 2. Items are never edited
 * after a release: directories of that format exist. Until 0.1.0 there is none: a change raises the
 * draft (`proto/base/draft.ts`).
 *
 * The modules that own the records read and write the newest format alone; older ones exist only
 * here.
 */
import type { StoreMigration } from "./migrations.ts";

export const storeMigrations: readonly StoreMigration[] = [];
