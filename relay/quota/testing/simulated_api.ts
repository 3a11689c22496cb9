/**
 * The API's side of leases in memory, after `proto/api/lease.ts`: for tests that need its failures
 * and its clock in hand.
 */
import type { Lease, LeaseReportBatch, LeaseRequest } from "../../../proto/api/lease.ts";
import type { LeaseApi, QuotaReport, QuotaReportOutcome, TakeAnswer } from "../lease_api.ts";

interface LeaseRow extends Lease {
  readonly nonce: string;
  bytes: QuotaReport["bytes"];
  closed: boolean;
}

export class SimulatedApi implements LeaseApi {
  readonly rows: LeaseRow[] = [];
  readonly asked = { take: 0, report: 0 };
  lifetimeMs = 300_000;
  maxLease = 10_000;
  /** Called before and after every effect; what it throws, the caller sees. */
  fault: (moment: "before" | "after") => void = () => {};
  #claimed = 0;

  constructor(readonly limit: number, readonly nowMs: () => number) {}

  /** Messages that reports have told. */
  get used(): number {
    return this.rows.reduce((sum, { consumed }) => sum + consumed, 0);
  }

  get open(): readonly LeaseRow[] {
    return this.rows.filter(({ closed }) => !closed);
  }

  get bytes(): QuotaReport["bytes"] {
    const sum = (name: keyof QuotaReport["bytes"]): number =>
      this.rows.reduce((all, row) => all + row.bytes[name], 0);
    return { payload: sum("payload"), padding: sum("padding"), cover: sum("cover") };
  }

  take(request: LeaseRequest): Promise<TakeAnswer> {
    this.asked.take++;
    return this.#withFaults(() => {
      const known = this.rows.find(({ nonce }) => nonce === request.nonce);
      if (known !== undefined) return { outcome: "granted", lease: { ...known } };
      const granted = Math.min(request.messages, this.maxLease, this.limit - this.#claimed);
      if (granted === 0 && request.messages > 0) {
        return { outcome: "exhausted", retryAfterMs: 3_600_000 };
      }
      this.#claimed += granted;
      const row: LeaseRow = {
        id: crypto.randomUUID(),
        fence: this.rows.length + 1,
        account_id: request.account_id,
        granted,
        consumed: 0,
        expires_at: new Date(this.nowMs() + this.lifetimeMs).toISOString(),
        nonce: request.nonce,
        bytes: { payload: 0, padding: 0, cover: 0 },
        closed: false,
      };
      this.rows.push(row);
      return { outcome: "granted", lease: { ...row }, left: this.limit - this.#claimed };
    });
  }

  report({ reports }: LeaseReportBatch): Promise<readonly QuotaReportOutcome[]> {
    this.asked.report++;
    return this.#withFaults(() => reports.map((report) => this.#judge(report)));
  }

  listOpen(): Promise<readonly Lease[]> {
    return this.#withFaults(() => this.open.map((row) => ({ ...row })));
  }

  #judge(report: QuotaReport): QuotaReportOutcome {
    const row = this.rows.find(({ id, fence }) => id === report.lease_id && fence === report.fence);
    if (row === undefined) return "unknown";
    const { bytes } = row;
    const changes = [
      report.consumed - row.consumed,
      report.bytes.payload - bytes.payload,
      report.bytes.padding - bytes.padding,
      report.bytes.cover - bytes.cover,
    ];
    if (row.closed) return changes.every((change) => change === 0) ? "accepted" : "refused";
    if (changes.some((change) => change < 0) || report.consumed > row.granted) return "refused";
    Object.assign(row, { consumed: report.consumed, bytes: report.bytes, closed: report.close });
    if (report.close) this.#claimed -= row.granted - row.consumed;
    return "accepted";
  }

  async #withFaults<Answer>(act: () => Answer): Promise<Answer> {
    await Promise.resolve();
    this.fault("before");
    const answer = act();
    this.fault("after");
    return answer;
  }
}
