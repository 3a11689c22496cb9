/**
 * Every change of the relay's file, in order. The format of a file (`PRAGMA user_version`) is the
 * number of changes that were made to it, so a new change is one more item at the end of this list;
 * a released one is never edited again. A new file gets all of them, so that it is the same as one
 * that has grown. Until 0.1.0 there is one, and its draft (`proto/base/draft.ts`) rises.
 *
 * A change of how the core encodes what is opaque here (bodies, snapshots, records) belongs here
 * too, if only as a name: a relay that cannot read the new encoding then refuses the file.
 */
import type { DatabaseSync } from "node:sqlite";
import { otherDraftText } from "../../proto/mod.ts";
import { EngineError, faultOf } from "./errors.ts";
import { applicationId, firstTables, isRelaysFile } from "./schema.ts";

export interface Migration {
  /** The addition to the file, for the log. */
  readonly name: string;
  /**
   * SQL, or code where SQL is not enough. Runs inside a transaction of its own, together with the
   * new number. Nothing, when only the core's encodings change.
   */
  readonly change?: string | ((sqlite: DatabaseSync) => void);
}

export const migrations: readonly Migration[] = [{ name: "tables", change: firstTables }];

/** A file that was changed while it was opened. */
export interface MigratedFile {
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

/**
 * Throws `corrupt` for a file of another program, and `unsupported_version` for one of another
 * draft.
 */
export function checkMark(path: string, id: number): void {
  if (id === applicationId) return;
  if (!isRelaysFile(id)) {
    throw new EngineError(
      "corrupt",
      `Cannot open ${path}: it is not a relay's database. Choose another file`,
    );
  }
  throw new EngineError(
    "unsupported_version",
    otherDraftText(path, "Move it away: the relay then begins with a new one"),
  );
}

/** Throws `unsupported_version` for a file that has had changes which are not in the list. */
export function checkFormat(path: string, format: number, known: number): void {
  if (format <= known) return;
  throw new EngineError(
    "unsupported_version",
    `Cannot open ${path}: it has format ${format}, and this relay knows formats up to ${known}. A newer relay wrote it: ` +
      "start that one, or restore a copy from before it ran. Nothing was changed",
  );
}

/**
 * Brings a file to the newest format. Each change is one transaction with its number, so a process
 * that dies in between leaves the file in the format before or after a change, and the next start
 * goes on from there.
 */
export function migrate(
  sqlite: DatabaseSync,
  from: number,
  list: readonly Migration[],
): MigratedFile {
  const pending = list.slice(from);
  pending.forEach(({ name, change }, i) => {
    const format = from + i + 1;
    try {
      sqlite.exec("BEGIN IMMEDIATE");
      if (typeof change === "string") sqlite.exec(change);
      else change?.(sqlite);
      sqlite.exec(`PRAGMA user_version = ${format}; COMMIT`);
    } catch (cause) {
      if (sqlite.isTransaction) sqlite.exec("ROLLBACK");
      throw faultOf(`bring the relay's database to format ${format} (${name})`, cause);
    }
  });
  return { from, to: list.length, names: pending.map(({ name }) => name) };
}
