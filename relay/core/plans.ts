/**
 * What the plan of an account allows at this relay. Messages of a month are the API's business; what is here is about the
 * relay's own disk and about traffic that costs no messages.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { Records } from "../engine/engine.ts";
import type { CoreConfig } from "./config.ts";

export const plans = ["free", "dev", "team", "enterprise"] as const;
export type Plan = (typeof plans)[number];

/** How many times what a free account has. */
const storageTimes: Readonly<Record<Plan, number>> = { free: 1, dev: 16, team: 128, enterprise: Infinity };
const handshakeTimes: Readonly<Record<Plan, number>> = { free: 1, dev: 10, team: 100, enterprise: Infinity };

/** A plan that this relay does not know gets what the smallest has. */
export function planOf(claim: string): Plan {
  return plans.find((plan) => plan === claim) ?? "free";
}

/** What all channels of an account may take on disk. */
export function storageBytesOf({ storageBytesPerAccount }: CoreConfig, plan: Plan): number {
  return Math.min(Number.MAX_SAFE_INTEGER, storageBytesPerAccount * storageTimes[plan]);
}

export interface Allowance {
  readonly count: number;
  readonly bytes: number;
}

/** Commits and Welcomes of a day that are no messages. */
export function allowanceOf({ handshakesPerDay, handshakeBytesPerDay }: CoreConfig, plan: Plan): Allowance {
  const times = handshakeTimes[plan];
  return { count: handshakesPerDay * times, bytes: handshakeBytesPerDay * times };
}

const maxKnown = 10_000;
/** Longer than any account is quiet and still has channels here. */
const keptMs = 400 * 24 * 60 * 60 * 1000;

/**
 * The plans of accounts, by their latest tokens. They are kept on disk too: others send into an account's channels before one
 * of its own agents has come back after a restart.
 */
export class AccountPlans {
  readonly #records: Records;
  readonly #known = new Map<AccountId, Plan>();

  constructor(records: Records) {
    this.#records = records;
  }

  /** Takes effect at once; the promise is about the disk. */
  async learn(account: AccountId, plan: Plan, nowMs: number): Promise<void> {
    if (this.#known.get(account) === plan) return;
    this.#remember(account, plan);
    const stored = await this.#records.get(keyOf(account));
    const expiresAtMs = nowMs + keptMs;
    if (stored !== undefined && decode(stored.value) === plan && stored.expiresAtMs > nowMs + keptMs / 2) return;
    // A conflict means that another session has just written what its token says.
    await this.#records.put(keyOf(account), { value: encode(plan), expiresAtMs }, stored?.revision ?? 0);
  }

  /** An account that was never here is a free one. */
  of(account: AccountId): Plan | Promise<Plan> {
    return this.#known.get(account) ?? this.#read(account);
  }

  async #read(account: AccountId): Promise<Plan> {
    const stored = await this.#records.get(keyOf(account));
    const known = this.#known.get(account);
    if (known !== undefined) return known;
    const plan = stored === undefined ? "free" : decode(stored.value);
    this.#remember(account, plan);
    return plan;
  }

  #remember(account: AccountId, plan: Plan): void {
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(account, plan);
  }
}

function keyOf(account: AccountId): string {
  return `plan/${account}`;
}

function encode(plan: Plan): Uint8Array {
  return Uint8Array.of(plans.indexOf(plan));
}

function decode([index = 0]: Uint8Array): Plan {
  return plans[index] ?? "free";
}
