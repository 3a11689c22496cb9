/**
 * How many receipts an agent sends in a day: each is a message of its account, and others decide
 * how many are asked for. Channels count on disk, so a process that starts goes on counting.
 */
import type { Usage } from "../../proto/mod.ts";
import type { Runtime } from "../base/runtime.ts";

/** How many receipts a channel has sent on a day. */
export interface SpentReceipts {
  /** Since 1970, by the local clock. */
  readonly day: number;
  readonly receipts: number;
}

export interface BudgetDeps {
  readonly runtime: Pick<Runtime, "nowMs">;
  /** Undefined when the API cannot say it now. */
  readonly usage: (() => Promise<Usage | undefined>) | undefined;
}

const dayMs = 24 * 60 * 60 * 1000;
/** Receipts a day with the free plan, or one that is not known. */
const aDay = 500;
/** Until the API is asked for the plan again. */
const askMs = 60 * 60 * 1000;

export class ReceiptBudget {
  readonly #deps: BudgetDeps;
  #spent: SpentReceipts = { day: 0, receipts: 0 };
  #isPaid = false;
  #askedMs = -Infinity;

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
  }

  /** A channel is opened that counted before. */
  restore({ day, receipts }: SpentReceipts): void {
    if (day === this.#today) this.#spend(receipts);
  }

  /** One is sent. Returns how many its channel has sent on this day, which it gave before. */
  spend(before: SpentReceipts | undefined): SpentReceipts {
    this.#spend(1);
    const day = this.#today;
    return { day, receipts: 1 + (before?.day === day ? before.receipts : 0) };
  }

  /** Until there is room for one. The plan is asked for when there is none. */
  get waitMs(): number {
    const day = this.#today;
    if (this.#isPaid || this.#spent.day !== day || this.#spent.receipts < aDay) return 0;
    const { runtime } = this.#deps;
    const nowMs = runtime.nowMs();
    this.#ask(nowMs);
    return Math.min(askMs, (day + 1) * dayMs - nowMs);
  }

  get #today(): number {
    return Math.floor(this.#deps.runtime.nowMs() / dayMs);
  }

  #spend(receipts: number): void {
    const day = this.#today;
    const before = this.#spent.day === day ? this.#spent.receipts : 0;
    this.#spent = { day, receipts: before + receipts };
  }

  #ask(nowMs: number): void {
    if (Math.abs(nowMs - this.#askedMs) < askMs) return;
    this.#askedMs = nowMs;
    void this.#deps.usage?.().then((usage) => {
      if (usage !== undefined) this.#isPaid = usage.plan !== "free";
    }).catch(() => {}); // asked again
  }
}
