/** Statistics of a relay's part in the shared log at a moment; for metrics. */

export interface ClusterStats {
  /** Entries of the log that this relay knows of and has not carried out. */
  readonly lag: number;
  readonly position: number;
  /** How long the oldest command has waited for its verdict. */
  readonly waitingMs: number;
  /** Clients of the nodes that took the place of a silent one. */
  readonly clients: number;
  readonly resends: number;
  readonly elections: number;
  readonly relays: number;
  /** Digests of other relays that agreed with this one's. */
  readonly digests: number;
  readonly differences: number;
}
