/**
 * Reports to the API about leases. A lease's last report waits here, with the same numbers, until
 * the API has taken it: its reply may be lost, and a report that was taken is accepted again only
 * if it says the same.
 */
import type { Log } from "../../server/mod.ts";
import type { HeldLease, LeaseBook } from "../engine/engine.ts";
import type { ActiveLease } from "./account_leases.ts";
import type { LeaseApi, QuotaReport, QuotaReportOutcome } from "./lease_api.ts";
import { reportsPerBatch } from "./settlement.ts";

export interface LeaseReportsDeps {
  readonly api: LeaseApi;
  readonly book: LeaseBook;
  readonly relayId: string;
  readonly log: Log;
}

export interface FinalCounts {
  readonly consumed?: number;
  readonly payload?: number;
  readonly padding?: number;
  readonly cover?: number;
}

interface LastReport {
  readonly report: QuotaReport;
  /** The engine has counted under it. */
  readonly booked: boolean;
}

export class LeaseReports {
  readonly #deps: LeaseReportsDeps;
  #last: LastReport[] = [];

  constructor(deps: LeaseReportsDeps) {
    this.#deps = deps;
  }

  /** Ended leases that the API has not heard of yet. */
  get waiting(): number {
    return this.#last.length;
  }

  /** The engine's counts are final; they are forgotten there when the API has them. */
  addEnded(lease: HeldLease, counts: FinalCounts): void {
    this.#last.push({ report: lastReport(lease, counts), booked: true });
  }

  /** A lease under which nothing was counted by the engine. */
  addUnused(lease: HeldLease, counts: FinalCounts = {}): void {
    this.#last.push({ report: lastReport(lease, counts), booked: false });
  }

  async sendLast(): Promise<void> {
    for (const batch of batches(this.#last)) {
      const outcomes = await this.#send(batch.map(({ report }) => report));
      this.#last = this.#last.filter((one) => !batch.includes(one));
      batch.forEach(({ report }, index) => this.#warnUnlessAccepted(report, outcomes[index]));
      await Promise.all(
        batch.filter(({ booked }) => booked).map(({ report }) =>
          this.#deps.book.forget(report.lease_id)
        ),
      );
    }
  }

  /**
   * Reports the use of running leases. Returns those that the API does not know any more, or not
   * so.
   */
  async sendProgress(leases: readonly ActiveLease[]): Promise<readonly ActiveLease[]> {
    const disowned: ActiveLease[] = [];
    for (const batch of batches(leases.filter(({ appended, reported }) => appended > reported))) {
      const reports = batch.map(progressReport);
      const outcomes = await this.#send(reports);
      for (const [index, lease] of batch.entries()) {
        const report = reports[index];
        if (report === undefined) continue;
        lease.reported = report.consumed;
        this.#warnUnlessAccepted(report, outcomes[index]);
        if (outcomes[index] !== "accepted") disowned.push(lease);
      }
    }
    return disowned;
  }

  #send(reports: QuotaReport[]): Promise<readonly QuotaReportOutcome[]> {
    return this.#deps.api.report({ relay_id: this.#deps.relayId, reports });
  }

  #warnUnlessAccepted(
    { lease_id: leaseId, consumed }: QuotaReport,
    outcome: QuotaReportOutcome | undefined,
  ): void {
    if (outcome !== "accepted") {
      this.#deps.log("error", "lease_report_refused", { leaseId, consumed, outcome });
    }
  }
}

function lastReport({ leaseId, fence }: HeldLease, counts: FinalCounts): QuotaReport {
  const { consumed = 0, payload = 0, padding = 0, cover = 0 } = counts;
  return { lease_id: leaseId, fence, consumed, bytes: { payload, padding, cover }, close: true };
}

/**
 * Only messages whose append is durable, so that a later report never says less. Fill and cover
 * bytes travel with the last report: they are counted in memory, and a crash must not shrink a
 * number that was reported before.
 */
function progressReport({ leaseId, fence, appended, payloadBytes }: ActiveLease): QuotaReport {
  const bytes = { payload: payloadBytes, padding: 0, cover: 0 };
  return { lease_id: leaseId, fence, consumed: appended, bytes, close: false };
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += reportsPerBatch) {
    yield items.slice(start, start + reportsPerBatch);
  }
}
