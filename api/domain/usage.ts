/**
 * Metering. A relay leases messages from the account's month before it accepts them; the account's
 * claimed total never passes the plan's limit, and what a lease did not consume returns when it is
 * closed. A lease that expired without a last report counts as used, until its relay comes back and
 * reports.
 */
import type { AccountId, KeyId } from "../../proto/mod.ts";
import type {
  Clock,
  GrantedLease,
  LeaseRecord,
  LeaseReport,
  NewId,
  ReportOutcome,
  UsagePeriod,
} from "./deps.ts";
import type { UsageDay, UsageRecord, UsageStore } from "./deps.ts";

export type LeaseAnswer =
  | { readonly outcome: "granted"; readonly lease: GrantedLease; readonly period: UsagePeriod }
  | { readonly outcome: "unknown_account" }
  | { readonly outcome: "nonce_taken" }
  | { readonly outcome: "exhausted"; readonly retryAfterMs: number };

export interface UsageDeps {
  readonly store: UsageStore;
  readonly clock: Clock;
  readonly newId: NewId;
}

export interface UsageService {
  read(accountId: AccountId): Promise<UsageRecord & { readonly period: UsagePeriod }>;
  /** Days as `2026-11-15`, both included. */
  readDays(accountId: AccountId, days: { from: string; to: string }): Promise<readonly UsageDay[]>;
  lease(
    request: {
      nonce: string;
      relayId: string;
      accountId: AccountId;
      messages: number;
      keyId?: KeyId | undefined;
    },
  ): Promise<LeaseAnswer>;
  report(relayId: string, reports: readonly LeaseReport[]): Promise<readonly ReportOutcome[]>;
  /** Leases of a relay that were never closed. */
  open(relayId: string): Promise<readonly LeaseRecord[]>;
  /**
   * To be called every few seconds: deletes leases that were closed so long ago that no relay
   * repeats its report of them.
   */
  forgetClosed(): Promise<void>;
}

const leaseLifetimeMs = 300_000;
/** The most that one lease carries, whatever a relay asks for. */
const maxLeaseMessages = 10_000;
const maxListedLeases = 1000;
const closedLeaseKeptMs = 24 * 3600 * 1000;
/** At a time: a statement must end within the database's deadline. */
const maxForgottenLeases = 2000;

export function createUsage({ store, clock, newId }: UsageDeps): UsageService {
  return {
    read: async (accountId) => {
      const nowMs = clock();
      const period = monthOf(nowMs);
      return { ...await store.readUsage(accountId, period, nowMs), period };
    },
    readDays: (accountId, days) => store.readUsageDays(accountId, days, clock()),
    lease: async ({ nonce, relayId, accountId, messages, keyId }) => {
      const nowMs = clock();
      const period = monthOf(nowMs);
      const lease = await store.grantLease({
        nonce,
        id: newId(),
        relayId,
        accountId,
        keyId,
        wanted: Math.min(messages, maxLeaseMessages),
        grantedAtMs: nowMs,
        expiresAtMs: nowMs + leaseLifetimeMs,
        periodStartMs: period.startMs,
      });
      if (lease === "unknown_account" || lease === "nonce_taken") return { outcome: lease };
      if (lease === "exhausted") return { outcome: lease, retryAfterMs: period.endMs - nowMs };
      return { outcome: "granted", lease, period: monthOf(lease.periodStartMs) };
    },
    report: (relayId, reports) => store.reportLeases(relayId, reports, clock()),
    open: (relayId) => store.listLeases(relayId, maxListedLeases),
    forgetClosed: () => store.forgetLeases(clock() - closedLeaseKeptMs, maxForgottenLeases),
  };
}

/** The UTC calendar month around a moment. */
export function monthOf(atMs: number): UsagePeriod {
  const date = new Date(atMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
}
