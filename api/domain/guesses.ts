/**
 * Attempts with a password, and the budgets that pay for them. Each is taken before the work and
 * given back when the attempt was good or could not be judged: only failures count, also when they
 * run in parallel. Nothing is looked up for it, so an address that has an account and one that has
 * none are refused alike.
 *
 * A known place pays from a budget of its account, and so do the account's keys and sessions, from
 * another one. All others are strangers: their address pays, the pair of their network and the
 * mailbox or account for which the password is tried, and the latter over all networks. Of the
 * latter's budget half is kept for newcomers, which are networks without a failure for it in the
 * last day, and with failures for few others.
 *
 * So somebody who goes on guessing does not keep the owner out. One network has a twentieth of the
 * subject's rate, which leaves the rest to an owner who mistypes; and one guess a day of the
 * newcomers' half. With 10 a minute, strangers who come from N networks can keep newcomers out for
 * N / 10 minutes a day, twenty of them all strangers that have failed before, and known places
 * never.
 */
import type { AccountId } from "../../proto/mod.ts";
import { networkOf } from "../../server/limits/mod.ts";
import type { Party } from "./deps.ts";
import type { RateDecision, RateLimiter, SubjectLimiter } from "./rate_limit.ts";

export interface GuessLimits {
  /** Per account: all its known places together, and apart from them its keys and sessions. */
  readonly known: RateLimiter;
  /** Per client address. */
  readonly addresses: RateLimiter;
  /** Per network and subject. */
  readonly pairs: RateLimiter;
  /** Per network and subject: one a day. */
  readonly newcomers: RateLimiter;
  /**
   * Per network, over all subjects. Otherwise networks could fail so often that their first
   * failures are forgotten.
   */
  readonly newcomerNetworks: RateLimiter;
  /** Per subject, over all strangers. */
  readonly subjects: SubjectLimiter;
  /** The part of a subject's budget that is for newcomers. */
  readonly keptForNewcomers: number;
}

export interface Guess {
  readonly address: string;
  /**
   * The mailbox or account for which it is tried. A code has 60 random bits and none: anybody could
   * use up its budget.
   */
  readonly subject?: string;
  /** The account of which it is a known place, or a key or session. */
  readonly knownTo?: { readonly accountId: AccountId; readonly by: "place" | "caller" } | undefined;
}

export type Guessing =
  | { readonly outcome: "limited"; readonly decision: RateDecision }
  | { readonly outcome: "begun"; readonly party: Party; readonly giveBack: () => void };

/** Asks for the budgets of one attempt. */
export type BeginGuess = (guess: Guess) => Guessing;

export function createGuesses(limits: GuessLimits): BeginGuess {
  const { known, addresses, pairs, newcomers, newcomerNetworks, subjects, keptForNewcomers } =
    limits;
  return ({ address, subject, knownTo }) => {
    // Beyond its budget a known place is a stranger: a thief of its token cannot take more from the
    // owner than that.
    if (knownTo !== undefined) {
      const { accountId, by } = knownTo;
      // Many programs may have a key. They do not use up what the owner's own places have.
      const payer = `${by} ${accountId}`;
      if (known.take(payer).allowed) {
        return {
          outcome: "begun",
          party: { key: accountId, isKnown: true },
          giveBack: () => known.refund(payer),
        };
      }
    }
    const party = strangerAt(address);
    const takings = [takeOf(addresses, address)];
    if (subject !== undefined) {
      const pair = `${party.key} ${subject}`;
      const firsts = takeAll([takeOf(newcomers, pair), takeOf(newcomerNetworks, party.key)]);
      const ofSubject = subjects.take(subject, firsts.length > 0 ? 0 : keptForNewcomers);
      takings.push(takeOf(pairs, pair), {
        decision: ofSubject,
        giveBack: () => subjects.refund(subject),
      }, ...firsts);
    }
    const taken = takings.filter(({ decision }) => decision.allowed);
    const giveBack = (): void => taken.forEach((one) => one.giveBack());
    const [refusal] = takings.map(({ decision }) => decision).filter(({ allowed }) => !allowed)
      .sort((a, b) => b.resetMs - a.resetMs);
    if (refusal === undefined) return { outcome: "begun", party, giveBack };
    // It was no guess: nobody has looked at it.
    giveBack();
    return { outcome: "limited", decision: refusal };
  };
}

interface Taking {
  readonly decision: RateDecision;
  readonly giveBack: () => void;
}

function takeOf(limiter: RateLimiter, subject: string): Taking {
  return { decision: limiter.take(subject), giveBack: () => limiter.refund(subject) };
}

/** Returns all of them, or none if one was refused. */
function takeAll(takings: readonly Taking[]): readonly Taking[] {
  const taken = takings.filter(({ decision }) => decision.allowed);
  if (taken.length === takings.length) return taken;
  for (const { giveBack } of taken) giveBack();
  return [];
}

/** A client as a party in queues: its network. */
export function strangerAt(address: string): Party {
  return { key: networkOf(address), isKnown: false };
}
