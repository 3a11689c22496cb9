/**
 * Quota without a round trip per message: leases are taken from the API ahead of need, one question
 * per account at a time, and every lease ends with a report of what the engine durably counted
 * under it. A message is never accepted without a lease that pays for it, so the limit holds
 * whatever fails; when the API is away, what was leased is used up first.
 */
import type { Lease } from "../../proto/api/lease.ts";
import { type AccountId, type KeyId, parseAccountId } from "../../proto/mod.ts";
import { describeFailure, type Log } from "../../server/mod.ts";
import type { Quota, Reservation } from "../core/deps.ts";
import type { Charge, ChargedAmount, HeldLease, LeaseBook } from "../engine/engine.ts";
import { AccountLeases, type ActiveLease, isUsable } from "./account_leases.ts";
import type { LeaseApi } from "./lease_api.ts";
import { LeaseReports } from "./lease_reports.ts";
import { settleEarlierLife } from "./settlement.ts";

export interface LeasedQuotaDeps {
  readonly api: LeaseApi;
  readonly book: LeaseBook;
  /** The same in every life of this relay. */
  readonly relayId: string;
  readonly nowMs: () => number;
  readonly newNonce: () => string;
  readonly log: Log;
}

export interface QuotaStats {
  readonly accounts: number;
  readonly leases: number;
  /** Messages that may be accepted without asking the API. */
  readonly messagesLeft: number;
  /** Leases that ended and whose last report the API has not taken yet. */
  readonly leasesUnreported: number;
  /** Questions to the API about leases that brought nothing, so far. */
  readonly failures: number;
}

/**
 * "Exhausted" may change with the plan or when another relay gives back; "unavailable" as soon as
 * the API is back.
 */
const exhaustedMemoryMs = 5_000;
const unavailableMemoryMs = 1_000;
/** An account that only reads still has bytes to report, but not more often than this. */
const bytesIntervalMs = 60_000;
const byteReportsPerTick = 100;

type RefusedReservation = Exclude<Reservation, { kind: "reserved" }>;

/** An account, or one of its keys, whose leases pay for messages. */
interface LeaseAccount {
  readonly id: AccountId;
  readonly key: KeyId | undefined;
  readonly leases: AccountLeases;
  /** The question under way, shared by everybody who waits for it. */
  refilling: Promise<number | undefined> | undefined;
  /**
   * The nonce of a question that had no answer. The question is repeated with the same nonce, so
   * that it cannot be granted twice.
   */
  nonce: string | undefined;
  bytesNonce: string | undefined;
  refusal:
    | { readonly answer: RefusedReservation; readonly fromMs: number; readonly untilMs: number }
    | undefined;
  padding: number;
  cover: number;
  bytesReportedAtMs: number;
}

export class LeasedQuota implements Quota {
  readonly #deps: LeasedQuotaDeps;
  readonly #accounts = new Map<string, LeaseAccount>();
  readonly #reports: LeaseReports;
  #settling: Promise<void> | undefined;
  #ticking: Promise<void> | undefined;
  #closing = false;
  #failures = 0;

  constructor(deps: LeasedQuotaDeps) {
    this.#deps = deps;
    this.#reports = new LeaseReports(deps);
  }

  reserve(
    accountId: AccountId,
    cost: ChargedAmount,
    key?: KeyId,
  ): Reservation | Promise<Reservation> {
    const account = this.#account(accountId, key);
    const nowMs = this.#deps.nowMs();
    const charge = account.leases.take(cost, nowMs);
    if (charge === undefined) return this.#reserveLater(account, cost);
    if (account.leases.needsMore(nowMs) && this.#mayAsk(account, nowMs)) void this.#refill(account);
    return { kind: "reserved", charge };
  }

  settle(accountId: AccountId, charge: Charge, appended: boolean | undefined, key?: KeyId): void {
    this.#accounts.get(payer(accountId, key))?.leases.settle(charge, appended);
  }

  countBytes(
    accountId: AccountId,
    { padding, cover }: { readonly padding: number; readonly cover: number },
  ): void {
    const account = this.#account(accountId);
    account.padding += padding;
    account.cover += cover;
  }

  /** Limits have changed: what was refused is asked for again. */
  forgetRefusals(): void {
    for (const account of this.#accounts.values()) account.refusal = undefined;
  }

  /**
   * Periodic work: leases end, are reported and given back. Never rejects; failed calls are
   * repeated next time.
   */
  tick(): Promise<void> {
    this.#ticking ??= this.#upkeep().catch((error) => this.#failed("upkeep", error)).finally(() => {
      this.#ticking = undefined;
    });
    return this.#ticking;
  }

  /**
   * Gives everything back. Call when no more messages come. Leases that the API does not take now
   * are settled after the next start, from the engine's counts.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#ticking;
    await Promise.all([...this.#accounts.values()].map(({ refilling }) => refilling));
    await this.#endLeases((leases) => leases.takeAll());
    await this.tick();
  }

  stats(): QuotaStats {
    const nowMs = this.#deps.nowMs();
    const leases = [...this.#accounts.values()].flatMap(({ leases }) => leases.active);
    const usable = leases.filter(({ stopAtMs }) => nowMs < stopAtMs);
    return {
      accounts: this.#accounts.size,
      leases: leases.length,
      messagesLeft: usable.reduce((sum, { granted, taken }) => sum + granted - taken, 0),
      leasesUnreported: this.#reports.waiting,
      failures: this.#failures,
    };
  }

  #account(id: AccountId, key?: KeyId): LeaseAccount {
    let account = this.#accounts.get(payer(id, key));
    if (account === undefined) {
      account = {
        id,
        key,
        leases: new AccountLeases({ ofKey: key !== undefined }),
        refilling: undefined,
        nonce: undefined,
        bytesNonce: undefined,
        refusal: undefined,
        padding: 0,
        cover: 0,
        bytesReportedAtMs: this.#deps.nowMs(),
      };
      this.#accounts.set(payer(id, key), account);
    }
    return account;
  }

  /**
   * Ends because every refill either brings messages or leaves a refusal; of several at once,
   * perhaps too few.
   */
  async #reserveLater(account: LeaseAccount, cost: ChargedAmount): Promise<Reservation> {
    while (true) {
      const nowMs = this.#deps.nowMs();
      const charge = account.leases.take(cost, nowMs);
      if (charge !== undefined) return { kind: "reserved", charge };
      if (this.#closing) return { kind: "unavailable" };
      if (isRefused(account, nowMs)) return account.refusal.answer;
      const isOurs = account.refilling === undefined;
      const granted = await this.#refill(account, cost.messages);
      if (isOurs && granted !== undefined && granted < cost.messages) return { kind: "exhausted" };
    }
  }

  #mayAsk(account: LeaseAccount, nowMs: number): boolean {
    return !this.#closing && account.refilling === undefined && !isRefused(account, nowMs);
  }

  /** Returns how many messages it brought; undefined when it brought none. */
  #refill(account: LeaseAccount, atOnce?: number): Promise<number | undefined> {
    account.refilling ??= this.#takeLease(account, atOnce).catch((error): undefined => {
      this.#failed("take_lease", error);
      const fromMs = this.#deps.nowMs();
      account.refusal = {
        answer: { kind: "unavailable" },
        fromMs,
        untilMs: fromMs + unavailableMemoryMs,
      };
    }).finally(() => {
      account.refilling = undefined;
    });
    return account.refilling;
  }

  async #takeLease(account: LeaseAccount, atOnce?: number): Promise<number | undefined> {
    const { api, book, relayId, nowMs, newNonce } = this.#deps;
    await this.#settled();
    const messages = account.leases.wanted(nowMs(), atOnce);
    const nonce = account.nonce ??= newNonce();
    const counted = account.key === undefined ? {} : { key_id: account.key };
    const answer = await api.take({
      nonce,
      relay_id: relayId,
      account_id: account.id,
      messages,
      ...counted,
    });
    account.nonce = undefined;
    if (answer.outcome === "refused") throw answer.fault;
    if (answer.outcome === "exhausted") {
      const fromMs = nowMs();
      const exhausted: RefusedReservation = {
        kind: "exhausted",
        untilMs: fromMs + answer.retryAfterMs,
      };
      account.refusal = { answer: exhausted, fromMs, untilMs: fromMs + exhaustedMemoryMs };
      return undefined;
    }
    const lease = heldLease(answer.lease);
    try {
      // Kept, it would pay for nothing, and waiting messages would ask for the next one at once,
      // and the next.
      if (!isUsable(lease, nowMs())) {
        throw new Error("The lease is over already: compare the clocks of API and relay");
      }
      await book.open(lease);
    } catch (error) {
      this.#reports.addUnused(lease);
      throw error;
    }
    account.refusal = undefined;
    account.leases.add(lease, nowMs(), answer.left);
    return lease.granted;
  }

  /**
   * Before the first lease of this process; a failure is repeated by the next caller that needs it.
   */
  #settled(): Promise<void> {
    this.#settling ??= settleEarlierLife(this.#deps).catch((error) => {
      this.#settling = undefined;
      throw error;
    });
    return this.#settling;
  }

  async #upkeep(): Promise<void> {
    await this.#settled();
    const nowMs = this.#deps.nowMs();
    await this.#endLeases((leases) => leases.takeFinished(nowMs));
    for (const account of this.#accounts.values()) {
      // The answer to this question was lost, and with it, perhaps, messages of the account's
      // month.
      if (account.nonce !== undefined && this.#mayAsk(account, nowMs)) await this.#refill(account);
    }
    await this.#reports.sendLast();
    const running = [...this.#accounts.values()].flatMap(({ leases }) => leases.active);
    // Leases that the API lost or disputes are worth nothing any more.
    const disowned = await this.#reports.sendProgress(running);
    await this.#endLeases((leases) => disowned.flatMap(({ leaseId }) => leases.takeOne(leaseId)));
    await this.#carryBytes(nowMs);
    for (const account of this.#accounts.values()) {
      if (isForgettable(account, nowMs)) this.#accounts.delete(payer(account.id, account.key));
    }
  }

  /** All at once, so that the engine writes them together. */
  async #endLeases(take: (leases: AccountLeases) => readonly ActiveLease[]): Promise<void> {
    const ending = [...this.#accounts.values()].flatMap((account) =>
      take(account.leases).map((lease) => this.#end(account, lease))
    );
    await Promise.all(ending);
  }

  async #end(account: LeaseAccount, lease: ActiveLease): Promise<void> {
    const final = await this.#deps.book.stop(lease.leaseId).catch((error) => {
      // Without its last count it would be paid for in full, so it is ended again at the next tick.
      account.leases.putBack(lease);
      throw error;
    });
    const { padding, cover } = takeBytes(account, this.#deps.nowMs());
    const consumed = final?.consumed ?? lease.appended;
    const payload = final?.payloadBytes ?? lease.payloadBytes;
    this.#reports.addEnded(lease, { consumed, payload, padding, cover });
  }

  /**
   * Accounts that sent nothing have no lease to report bytes with: they get one for no messages.
   */
  async #carryBytes(nowMs: number): Promise<void> {
    const { api, relayId, newNonce } = this.#deps;
    const waiting = this.#accounts.values().filter((
      { padding, cover, leases, bytesReportedAtMs },
    ) =>
      padding + cover > 0 && leases.active.length === 0 &&
      (this.#closing || nowMs - bytesReportedAtMs >= bytesIntervalMs)
    );
    for (const account of waiting.take(byteReportsPerTick).toArray()) {
      const nonce = account.bytesNonce ??= newNonce();
      const answer = await api.take({
        nonce,
        relay_id: relayId,
        account_id: account.id,
        messages: 0,
      });
      account.bytesNonce = undefined;
      const { padding, cover } = takeBytes(account, nowMs);
      if (answer.outcome !== "granted") continue;
      this.#reports.addUnused(heldLease(answer.lease), { padding, cover });
    }
    await this.#reports.sendLast();
  }

  #failed(action: string, error: unknown): void {
    this.#failures++;
    this.#deps.log("warn", "quota_api_failed", { action, error: describeFailure(error) });
  }
}

function payer(account: AccountId, key: KeyId | undefined): string {
  return key === undefined ? account : `${account} ${key}`;
}

function heldLease({ id, fence, account_id, granted, expires_at }: Lease): HeldLease {
  const account = parseAccountId(account_id.toLowerCase());
  return { leaseId: id, fence, account, granted, expiresAtMs: Date.parse(expires_at) };
}

function takeBytes(account: LeaseAccount, nowMs: number): { padding: number; cover: number } {
  const { padding, cover } = account;
  account.padding = 0;
  account.cover = 0;
  account.bytesReportedAtMs = nowMs;
  return { padding, cover };
}

/**
 * Also false if `now` is before the refusal: the clock was set back, so the stored times mean
 * nothing.
 */
function isRefused(
  account: LeaseAccount,
  nowMs: number,
): account is LeaseAccount & { readonly refusal: NonNullable<LeaseAccount["refusal"]> } {
  const { refusal } = account;
  return refusal !== undefined && nowMs >= refusal.fromMs && nowMs < refusal.untilMs;
}

function isForgettable(account: LeaseAccount, nowMs: number): boolean {
  const { leases, refilling, nonce, padding, cover } = account;
  return leases.active.length === 0 && refilling === undefined && nonce === undefined &&
    padding + cover === 0 &&
    !isRefused(account, nowMs);
}
