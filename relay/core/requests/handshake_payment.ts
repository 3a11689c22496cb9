/** How commits and Welcomes are paid for: from the allowance of their sender's account, and as messages above it. */
import type { Charge } from "../../engine/engine.ts";
import { allowanceOf } from "../plans.ts";
import type { AgentAsker } from "../request_handler.ts";
import type { Settled } from "./append.ts";
import { quotaRefusal } from "./quota_refusal.ts";

export interface Payment {
  readonly charge?: Charge;
  /** Whether the entry was appended: what was not used goes back. */
  settle(appended: boolean): void;
}

/** Settles with what becomes of the entry. */
export async function settling(payment: Payment, appending: Promise<Settled>): Promise<Settled> {
  let appended = false;
  try {
    const settled = await appending;
    appended = !settled.duplicate;
    return settled;
  } finally {
    payment.settle(appended);
  }
}

/** Throws `Refusal`, but never for what must be accepted. */
export async function payHandshake(
  { core, agent: { account, plan, grant } }: AgentAsker,
  { bytes, mustPass }: { readonly bytes: number; readonly mustPass: boolean },
): Promise<Payment> {
  const { allowances, config, deps: { quota, meter, nowMs } } = core;
  const free: Payment = {
    settle: (appended) => {
      if (!appended) allowances.giveBack(account, bytes);
    },
  };
  if (allowances.take(account, bytes, allowanceOf(config, plan), nowMs())) return free;
  if (mustPass) {
    allowances.draw(account, bytes, nowMs());
    return free;
  }
  const key = grant?.key ?? undefined;
  const reservation = await quota.reserve(account, bytes, key);
  if (reservation.kind !== "reserved") {
    meter.quotaRefusals++;
    throw quotaRefusal(reservation);
  }
  const { charge } = reservation;
  return {
    charge,
    settle: (appended) => {
      quota.settle(account, charge, appended, key);
      if (appended) meter.handshakesCharged++;
    },
  };
}
