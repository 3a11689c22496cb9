/**
 * Formats before the first release. Format 1 of every store is what is stored when 0.1.0 is tagged.
 * Until then a draft number stands beside it, which rises with each change of a stored record. Data
 * of another draft is refused before anything is written. From 0.1.0 on every format migrates.
 */
export const drafts = {
  /**
   * The relay's file, its backups, and the file that `relay:import` reads: the last byte of `PRAGMA
   * application_id`.
   */
  relayFile: 2,
  /** The logs of a cluster: in the metadata of their streams. */
  clusterLog: 3,
  /** An agent's data directory: the fourth byte of its key file. */
  agentStore: 12,
  /** The API's database: the name of the migrations' table ends in it. */
  database: 2,
} as const;

/** The sentence by which data of another draft is refused. `advice` says what to do. */
export function otherDraftText(what: string, advice: string): string {
  return `Cannot open ${what}: it was made by a checkout before 0.1.0; this version cannot open it. ${advice}. ` +
    "Nothing was changed";
}
