/**
 * The API as quota sees it; see `proto/api/lease.ts` for what each question means. Every call
 * rejects when it has no answer.
 */
import type {
  Lease,
  LeaseReportBatch,
  LeaseReportResults,
  LeaseRequest,
} from "../../proto/api/lease.ts";

export interface LeaseApi {
  take(request: LeaseRequest): Promise<TakeAnswer>;
  /** One outcome per report, in order. */
  report(batch: LeaseReportBatch): Promise<readonly QuotaReportOutcome[]>;
  /** Leases of this relay that were never closed. */
  listOpen(relayId: string): Promise<readonly Lease[]>;
}

export type TakeAnswer =
  /**
   * `left`: messages of the month that nobody holds, of the account or of the key, whichever has
   * less; undefined when unlimited.
   */
  | { readonly outcome: "granted"; readonly lease: Lease; readonly left?: number }
  /** Until the period ends, unless the plan changes or somebody gives back. */
  | { readonly outcome: "exhausted"; readonly retryAfterMs: number }
  /** Something is set up wrongly; nothing was granted. */
  | { readonly outcome: "refused"; readonly fault: Error };

export type QuotaReportOutcome = LeaseReportResults["results"][number]["outcome"];
export type QuotaReport = LeaseReportBatch["reports"][number];
