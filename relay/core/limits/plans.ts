/**
 * The relay's limits for the plan of an account. The API counts the messages of a month; the limits
 * here are about the relay's own disk and about traffic that costs no messages.
 */
import type { AccountId } from "../../../proto/mod.ts";
import type { Records } from "../../engine/engine.ts";
import type { CoreConfig } from "../config.ts";

export const plans = ["free", "dev", "team", "enterprise"] as const;
export type PlanName = (typeof plans)[number];

/** How many times what a free account has. */
const storageTimes: Readonly<Record<PlanName, number>> = {
  free: 1,
  dev: 16,
  team: 128,
  enterprise: Infinity,
};
const handshakeTimes: Readonly<Record<PlanName, number>> = {
  free: 1,
  dev: 10,
  team: 100,
  enterprise: Infinity,
};

/** How many times the places of a free account count as its share. */
const placesTimes: Readonly<Record<PlanName, number>> = {
  free: 1,
  dev: 8,
  team: 32,
  enterprise: 128,
};

/** A plan that this relay does not know gets what the smallest has. */
export function planOf(claim: string): PlanName {
  return plans.find((plan) => plan === claim) ?? "free";
}

/** Returns the rank of an account among those that hold places. */
export function rankOf(plan: PlanName): { readonly weight: number; readonly isPaying: boolean } {
  return { weight: placesTimes[plan], isPaying: plan !== "free" };
}

/** Disk space for all channels of an account. */
export function storageBytesOf({ storageBytesPerAccount }: CoreConfig, plan: PlanName): number {
  return Math.min(Number.MAX_SAFE_INTEGER, storageBytesPerAccount * storageTimes[plan]);
}

export interface Allowance {
  readonly count: number;
  readonly bytes: number;
}

/** Commits and Welcomes of a day that are no messages. */
export function allowanceOf(
  { handshakesPerDay, handshakeBytesPerDay }: CoreConfig,
  plan: PlanName,
): Allowance {
  const times = handshakeTimes[plan];
  return { count: handshakesPerDay * times, bytes: handshakeBytesPerDay * times };
}

/** The claim for an account that was never here. */
const unknown: PlanClaim = { plan: "free", issuedAtMs: 0 };
const maxKnown = 10_000;
/** Longer than any account is quiet and still has channels here. */
const keptMs = 400 * 24 * 60 * 60 * 1000;

/** The plan in a token. */
export interface PlanClaim {
  readonly plan: PlanName;
  readonly issuedAtMs: number;
}

/**
 * The plans of accounts, by their newest tokens: one that was issued before the plan changed may be
 * used after it. They are kept on disk too: others send into an account's channels before one of
 * its own agents has come back after a restart.
 */
export class AccountPlans {
  readonly #records: Records;
  readonly #known = new Map<AccountId, PlanClaim>();

  constructor(records: Records) {
    this.#records = records;
  }

  /** Takes effect at once; the promise is about the disk. */
  async learn(account: AccountId, claim: PlanClaim, nowMs: number): Promise<void> {
    const known = this.#known.get(account);
    if (known !== undefined && known.issuedAtMs > claim.issuedAtMs) return;
    this.#remember(account, claim);
    if (known?.plan === claim.plan) return;
    const stored = await this.#records.get(keyOf(account));
    const before = stored && decode(stored.value);
    if (before !== undefined && before.issuedAtMs > claim.issuedAtMs) {
      if (this.#known.get(account) === claim) this.#remember(account, before);
      return;
    }
    const expiresAtMs = nowMs + keptMs;
    if (before?.plan === claim.plan && (stored?.expiresAtMs ?? 0) > nowMs + keptMs / 2) return;
    // A conflict means that another session has just written what its token says.
    await this.#records.put(
      keyOf(account),
      { value: encode(claim), expiresAtMs },
      stored?.revision ?? 0,
    );
  }

  /** An account that was never here is a free one. */
  of(account: AccountId): PlanName | Promise<PlanName> {
    return this.#known.get(account)?.plan ?? this.#read(account);
  }

  async #read(account: AccountId): Promise<PlanName> {
    const stored = await this.#records.get(keyOf(account));
    const known = this.#known.get(account);
    if (known !== undefined) return known.plan;
    const claim = stored === undefined ? unknown : decode(stored.value);
    this.#remember(account, claim);
    return claim.plan;
  }

  #remember(account: AccountId, claim: PlanClaim): void {
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(account, claim);
  }
}

function keyOf(account: AccountId): string {
  return `plan/${account}`;
}

/** A byte for the plan, and since when it is known. */
function encode({ plan, issuedAtMs }: PlanClaim): Uint8Array {
  const bytes = new Uint8Array(9);
  bytes[0] = plans.indexOf(plan);
  new DataView(bytes.buffer).setFloat64(1, issuedAtMs);
  return bytes;
}

function decode(bytes: Uint8Array): PlanClaim {
  const plan = plans[bytes[0] ?? 0] ?? "free";
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return { plan, issuedAtMs: view.getFloat64(1) };
}
