/**
 * How commits and Welcomes are paid for: from the allowance of their sender's account, and as
 * messages above it.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import type { Charge } from "../../engine/engine.ts";
import { type Allowance, allowanceOf } from "../limits/plans.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker } from "./request_handler.ts";
import { type AppendAnswer, mayStand } from "./append.ts";
import { partOf, partyOf, sharesOf } from "../limits/shares.ts";
import type { ConnectedAgent } from "../session/agent.ts";
import type { Allowances } from "../limits/allowances.ts";
import { payMessages } from "./message_payment.ts";

/**
 * Beyond the allowance, each part of an entry that it begins is a message: unlike messages, entries
 * cannot give way to a gap.
 */
export const bytesPerMessage = 16 * 1024;

export interface Payment {
  readonly charge?: Charge;
  /** Whether the entry was appended: what was not used goes back; undefined: nobody knows. */
  settle(appended: boolean | undefined): void;
}

/** Settles with what becomes of the entry. */
export async function settling(
  payment: Payment,
  appending: Promise<AppendAnswer>,
): Promise<AppendAnswer> {
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
 * A removal is never refused for want of allowance, messages or room, up to so many bytes a day of
 * an account and of a channel: it makes room, but its sender can put anything into it. This is two
 * foundings of a thousand members, or a thousand usual removals.
 */
export const reserve: Allowance = { count: Infinity, bytes: 8 * 1024 * 1024 };

export interface Exemption {
  giveBack(): void;
}

/** Undefined when the reserve is used up: then it is like any other entry. */
export function takeReserve(
  { core: { limits: { reserves }, deps: { nowMs } }, agent }: AgentAsker,
  channelId: ChannelId,
  bytes: number,
): Exemption | undefined {
  const party = partyOf(agent);
  if (!reserves.take(channelId, bytes, reserve, nowMs())) return undefined;
  if (reserves.take(party, bytes, reserve, nowMs())) {
    return { giveBack: () => [channelId, party].forEach((key) => reserves.giveBack(key, bytes)) };
  }
  reserves.giveBack(channelId, bytes);
  return undefined;
}

/**
 * Pays for an entry that the engine refused after it stood in the log as a command. Later entries
 * of the day have so much less. Returns false when the reserve and the allowance did not cover it:
 * the allowance is then drawn in advance, and there should be no further attempt.
 */
export function payLostAttempt(asker: AgentAsker, channelId: ChannelId, bytes: number): boolean {
  if (takeReserve(asker, channelId, bytes) !== undefined) return true;
  const { core: { limits: { allowances }, config, deps }, agent } = asker;
  const nowMs = deps.nowMs();
  if (
    takeAllowance(agent, allowances, { bytes, allowance: allowanceOf(config, agent.plan), nowMs })
  ) return true;
  for (const { name } of sharesOf(agent)) allowances.draw(name, bytes, nowMs);
  return false;
}

/** Throws `Refusal`, but never for what is exempt. */
export async function payHandshake(
  asker: AgentAsker,
  bytes: number,
  exemption?: Exemption,
): Promise<Payment> {
  const { core: { limits: { allowances }, config, deps: { meter, nowMs } }, agent } = asker;
  const shares = sharesOf(agent);
  for (const { name } of shares) await allowances.load(name);
  const free: Payment = {
    settle: (appended) => {
      if (appended !== false) return;
      for (const { name } of shares) allowances.giveBack(name, bytes);
      exemption?.giveBack();
    },
  };
  if (
    takeAllowance(agent, allowances, {
      bytes,
      allowance: allowanceOf(config, agent.plan),
      nowMs: nowMs(),
    })
  ) {
    return free;
  }
  if (exemption !== undefined) {
    for (const { name } of shares) allowances.draw(name, bytes, nowMs());
    return free;
  }
  const paid = await payMessages(asker, {
    messages: Math.ceil(bytes / bytesPerMessage),
    payloadBytes: bytes,
  });
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

/** Takes the allowance from every share that the sender uses, or from none. */
function takeAllowance(
  agent: ConnectedAgent,
  allowances: Allowances,
  { bytes, allowance, nowMs }: {
    readonly bytes: number;
    readonly allowance: Allowance;
    readonly nowMs: number;
  },
): boolean {
  const taken: string[] = [];
  for (const { name, part } of sharesOf(agent)) {
    const ofShare = { count: partOf(allowance.count, part), bytes: partOf(allowance.bytes, part) };
    if (allowances.take(name, bytes, ofShare, nowMs)) {
      taken.push(name);
      continue;
    }
    for (const before of taken) allowances.giveBack(before, bytes);
    return false;
  }
  return true;
}
