/** How commits and Welcomes are paid for: from the allowance of their sender's account, and as messages above it. */
import type { ChannelId } from "../../../proto/mod.ts";
import type { Charge } from "../../engine/engine.ts";
import { type Allowance, allowanceOf } from "../plans.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker } from "../request_handler.ts";
import { mayStand, type Settled } from "./append.ts";
import { keyOf, keyShareOf } from "../key_share.ts";
import type { Agent } from "../agent.ts";
import type { Allowances } from "../allowances.ts";
import { payMessages } from "./message_payment.ts";

/** Beyond the allowance, each part of an entry that it begins is a message: unlike messages, entries cannot give way to a gap. */
const bytesPerMessage = 16 * 1024;

export interface Payment {
  readonly charge?: Charge;
  /** Whether the entry was appended: what was not used goes back; undefined: nobody knows. */
  settle(appended: boolean | undefined): void;
}

/** Settles with what becomes of the entry. */
export async function settling(payment: Payment, appending: Promise<Settled>): Promise<Settled> {
  let appended: boolean | undefined = false;
  try {
    const settled = await appending;
    appended = !settled.duplicate;
    return settled;
  } catch (error) {
    if (mayStand(error)) appended = undefined;
    throw error;
  } finally {
    payment.settle(appended);
  }
}

/**
 * A removal is never refused for want of allowance, messages or room, up to so many bytes a day of an account and of a
 * channel: it makes room, but its sender can put anything into it. This is two foundings of a thousand members, or a
 * thousand usual removals.
 */
const reserve: Allowance = { count: Infinity, bytes: 8 * 1024 * 1024 };

export interface Exemption {
  giveBack(): void;
}

/** Undefined when the reserve is used up: then it is like any other entry. */
export function takeReserve(
  { core: { reserves, deps: { nowMs } }, agent: { account } }: AgentAsker,
  channelId: ChannelId,
  bytes: number,
): Exemption | undefined {
  if (!reserves.take(channelId, bytes, reserve, nowMs())) return undefined;
  if (reserves.take(account, bytes, reserve, nowMs())) {
    return { giveBack: () => [channelId, account].forEach((key) => reserves.giveBack(key, bytes)) };
  }
  reserves.giveBack(channelId, bytes);
  return undefined;
}

/**
 * Of an entry that the engine refused after it stood in the log as a command. Later ones of the day have so much less. Returns
 * false when the reserve and the allowance did not cover it: it is drawn in advance, and there should be no further attempt.
 */
export function payLostAttempt(asker: AgentAsker, channelId: ChannelId, bytes: number): boolean {
  if (takeReserve(asker, channelId, bytes) !== undefined) return true;
  const { core: { allowances, config, deps }, agent } = asker;
  const nowMs = deps.nowMs();
  if (takeAllowance(agent, allowances, { bytes, allowance: allowanceOf(config, agent.plan), nowMs })) return true;
  for (const payer of payersOf(agent)) allowances.draw(payer, bytes, nowMs);
  return false;
}

/** Throws `Refusal`, but never for what is exempt. */
export async function payHandshake(asker: AgentAsker, bytes: number, exemption?: Exemption): Promise<Payment> {
  const { core: { allowances, config, deps: { meter, nowMs } }, agent } = asker;
  const payers = payersOf(agent);
  for (const payer of payers) await allowances.load(payer);
  const free: Payment = {
    settle: (appended) => {
      if (appended !== false) return;
      for (const payer of payers) allowances.giveBack(payer, bytes);
      exemption?.giveBack();
    },
  };
  if (takeAllowance(agent, allowances, { bytes, allowance: allowanceOf(config, agent.plan), nowMs: nowMs() })) {
    return free;
  }
  if (exemption !== undefined) {
    for (const payer of payers) allowances.draw(payer, bytes, nowMs());
    return free;
  }
  const paid = await payMessages(asker, { messages: Math.ceil(bytes / bytesPerMessage), payloadBytes: bytes });
  if (paid instanceof Refusal) {
    meter.quotaRefusals++;
    throw paid;
  }
  return {
    charge: paid.charge,
    settle: (appended) => {
      paid.settle(appended);
      if (appended) meter.handshakesCharged++;
    },
  };
}

function payersOf(agent: Agent): readonly string[] {
  const key = keyOf(agent);
  return [agent.account, ...(key === undefined ? [] : [key])];
}

/** Of the account's, and of the share that its key has of that. */
function takeAllowance(
  agent: Agent,
  allowances: Allowances,
  { bytes, allowance, nowMs }: { readonly bytes: number; readonly allowance: Allowance; readonly nowMs: number },
): boolean {
  const key = keyOf(agent);
  const ofKey = { count: keyShareOf(allowance.count), bytes: keyShareOf(allowance.bytes) };
  if (key !== undefined && !allowances.take(key, bytes, ofKey, nowMs)) return false;
  if (allowances.take(agent.account, bytes, allowance, nowMs)) return true;
  if (key !== undefined) allowances.giveBack(key, bytes);
  return false;
}
