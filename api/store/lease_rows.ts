/** Leases as the database returns them. */

export interface LeaseRow {
  readonly id: string;
  readonly fence: number;
  readonly account_id: string;
  readonly period_start: Date;
  readonly granted: number;
  readonly consumed: number;
  readonly expires_at: Date;
  readonly plan: string;
}

export interface GrantedRow extends LeaseRow {
  readonly claimed: number;
  readonly message_limit: number | null;
}
