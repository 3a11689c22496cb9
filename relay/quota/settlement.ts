/**
 * Settles the leases of this relay's previous run. They are closed with the counts that the engine
 * kept, so that exactly the accepted messages are paid for, and the rest goes back to the accounts.
 * No lease is taken before this is done: until then every lease that the API lists as open is one
 * of the previous run.
 */
import type { Log } from "../../server/mod.ts";
import type { LeaseBook } from "../engine/engine.ts";
import type { LeaseApi, QuotaReport } from "./lease_api.ts";

/** The API takes so many in one batch. */
export const reportsPerBatch = 100;

export interface SettlementDeps {
  readonly api: LeaseApi;
  readonly book: LeaseBook;
  readonly relayId: string;
  readonly log: Log;
}

/**
 * Leases of another relay that is gone. Stopping them in the log they share makes their counts
 * final, whatever that relay still does. Rejects when the API does not answer; repeating it is
 * safe.
 */
export async function settleAnother({ api, book, relayId, log }: SettlementDeps): Promise<void> {
  for (const { leaseId, fence } of (await book.list()).slice(0, reportsPerBatch)) {
    const final = await book.stop(leaseId);
    if (final === undefined) continue;
    const { consumed, payloadBytes } = final;
    const bytes = { payload: payloadBytes, padding: 0, cover: 0 };
    const reports = [{ lease_id: leaseId, fence, consumed, bytes, close: true }];
    const [outcome] = await api.report({ relay_id: relayId, reports });
    if (outcome === "accepted") {
      log("info", "other_lease_settled", { leaseId, consumed, relay: relayId });
    } else log("error", "other_lease_not_settled", { leaseId, consumed, outcome, relay: relayId });
    await book.forget(leaseId);
  }
}

/** Rejects when the API does not answer; repeating it is safe. */
export async function settleEarlierLife(
  { api, book, relayId, log }: SettlementDeps,
): Promise<void> {
  const earlier = await book.list();
  const known = new Map(earlier.map((lease) => [lease.leaseId, lease]));
  const beyondRepair = new Set<string>();
  while (true) {
    const open = (await api.listOpen(relayId)).filter(({ id }) => !beyondRepair.has(id)).slice(
      0,
      reportsPerBatch,
    );
    if (open.length === 0) break;
    const reports = await Promise.all(
      open.map(async ({ id, fence, consumed }): Promise<QuotaReport> => {
        // One that the engine does not know was granted but never used, or the engine's file was
        // lost with its count.
        const final = known.has(id) ? await book.stop(id) : undefined;
        return {
          lease_id: id,
          fence,
          consumed: final?.consumed ?? consumed,
          bytes: { payload: final?.payloadBytes ?? 0, padding: 0, cover: 0 },
          close: true,
        };
      }),
    );
    const outcomes = await api.report({ relay_id: relayId, reports });
    reports.forEach(({ lease_id: leaseId, consumed }, index) => {
      const outcome = outcomes[index];
      if (outcome === "accepted") {
        return log("info", "earlier_lease_settled", { leaseId, consumed });
      }
      beyondRepair.add(leaseId);
      log("error", "earlier_lease_not_settled", {
        leaseId,
        consumed,
        outcome,
        effect: "the API counts it as used up",
      });
    });
  }
  await Promise.all(earlier.map(({ leaseId }) => book.forget(leaseId)));
}
