/** Leases as the database returns them. */

/** Columns that every reader of a lease needs. */
export interface LeaseCounts {
  readonly id: string;
  readonly fence: number;
  readonly account_id: string;
  readonly period_start: Date;
  readonly granted: number;
  readonly consumed: number;
}

export interface LeaseRow extends LeaseCounts {
  readonly expires_at: Date;
  readonly plan: string;
}

export interface GrantedRow extends LeaseRow {
  readonly claimed: number;
  readonly message_limit: number | null;
}
