/**
 * Decides what a relay's report changes. Counts run from the start of a lease, so repeating a
 * report changes nothing.
 */
import type { ByteCounts, LeaseReport, ReportOutcome } from "./deps.ts";

export interface ReportedLease extends ByteCounts {
  readonly fence: number;
  readonly granted: number;
  readonly consumed: number;
  readonly closed: boolean;
}

export interface UsageChange {
  readonly used: number;
  /** Messages that go back to the account's month. */
  readonly returned: number;
  readonly bytes: ByteCounts;
}

export interface LeaseReportVerdict {
  readonly outcome: ReportOutcome;
  readonly change?: UsageChange;
}

export function judgeReport(
  lease: ReportedLease | undefined,
  report: LeaseReport,
): LeaseReportVerdict {
  if (lease === undefined || lease.fence !== report.fence) return { outcome: "unknown" };
  const bytes = {
    payload: report.bytes.payload - lease.payload,
    padding: report.bytes.padding - lease.padding,
    cover: report.bytes.cover - lease.cover,
  };
  const used = report.consumed - lease.consumed;
  const changes = [used, bytes.payload, bytes.padding, bytes.cover];
  if (lease.closed) {
    return { outcome: changes.every((change) => change === 0) ? "accepted" : "refused" };
  }
  if (changes.some((change) => change < 0) || report.consumed > lease.granted) {
    return { outcome: "refused" };
  }
  return {
    outcome: "accepted",
    change: { used, bytes, returned: report.close ? lease.granted - report.consumed : 0 },
  };
}
