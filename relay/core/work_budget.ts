/** The budget of work of an account, and the part of it for one of its keys. */
import type { CoreConfig } from "./config.ts";
import type { Cost } from "./fair_turns.ts";
import { keyOf, keyShareOf } from "./key_share.ts";
import { Refusal } from "./refusal.ts";
import { RequestBudget } from "./request_budget.ts";
import type { Agent } from "./agent.ts";

export class WorkBudget {
  readonly #accounts: RequestBudget;
  readonly #keys: RequestBudget;

  constructor({ accountWorkMs, accountWorkMsPerSecond }: CoreConfig) {
    const [burst, perSecond] = [1_000 * accountWorkMs, 1_000 * accountWorkMsPerSecond];
    this.#accounts = new RequestBudget({ burst, perSecond });
    this.#keys = new RequestBudget({ burst: keyShareOf(burst), perSecond: keyShareOf(perSecond) });
  }

  /** Takes the cost, or returns why not and when there is enough for it. */
  take(agent: Agent, cost: Cost, nowMs: number): Refusal | undefined {
    const key = keyOf(agent);
    const byKey = key === undefined ? undefined : this.#keys.take(key, cost, nowMs);
    const retryAfterMs = byKey ?? this.#accounts.take(agent.account, cost, nowMs);
    if (retryAfterMs === undefined) return undefined;
    const who = byKey === undefined ? "account" : "key";
    return new Refusal("rate_limited", `This ${who} asks for more work than its share; try later`, { retryAfterMs });
  }

  /** Drops what is full again. */
  forget(nowMs: number): void {
    this.#accounts.forget(nowMs);
    this.#keys.forget(nowMs);
  }
}
