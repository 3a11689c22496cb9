/**
 * Attempts with a password, and the budgets that pay for them. Each is taken before the work and given back when the attempt was good or
 * could not be judged: only failures count, also when they run in parallel. Nothing is looked up for it, so an address that has an
 * account and one that has none are refused alike.
 *
 * A known place pays from a budget of its account. All others are strangers: their address pays, and the mailbox or account for which
 * the password is tried. Of the latter's budget half is kept for newcomers, which are networks without a failure for it in the last day.
 * So somebody who goes on guessing does not keep the owner out: one guess a day is all that a network has of the newcomers' half. With
 * 10 a minute, strangers who come from N networks can keep other strangers out for N / 10 minutes a day, and known places never.
 */
import type { AccountId } from "../../proto/mod.ts";
import { networkOf } from "../../server/limits/mod.ts";
import type { Party } from "./deps.ts";
import type { RateDecision, RateLimiter, SubjectLimiter } from "./rate_limit.ts";

export interface GuessLimits {
  /** Per account: all its known places together. */
  readonly known: RateLimiter;
  /** Per client address. */
  readonly addresses: RateLimiter;
  /** Per network and subject: one a day. */
  readonly newcomers: RateLimiter;
  /** Per subject, over all strangers. */
  readonly subjects: SubjectLimiter;
  /** The part of a subject's budget that is for newcomers. */
  readonly keptForNewcomers: number;
}

export interface Guess {
  readonly address: string;
  /** The mailbox or account for which it is tried. A code has 60 random bits and none: anybody could use up its budget. */
  readonly subject?: string;
  /** The account, for a known place, key or session of it. */
  readonly knownTo?: AccountId | undefined;
}

export type Guessing =
  | { readonly outcome: "limited"; readonly decision: RateDecision }
  | { readonly outcome: "begun"; readonly party: Party; readonly giveBack: () => void };

/** Asks for the budgets of one attempt. */
export type BeginGuess = (guess: Guess) => Guessing;

export function createGuesses(limits: GuessLimits): BeginGuess {
  const { known, addresses, newcomers, subjects, keptForNewcomers } = limits;
  return ({ address, subject, knownTo }) => {
    // Beyond its budget a known place is a stranger: a thief of its token cannot take more from the owner than that.
    if (knownTo !== undefined && known.take(knownTo).allowed) {
      return { outcome: "begun", party: { key: knownTo, isKnown: true }, giveBack: () => known.refund(knownTo) };
    }
    const party = strangerAt(address);
    const ofAddress = addresses.take(address);
    if (!ofAddress.allowed) return { outcome: "limited", decision: ofAddress };
    const taken = [(): void => addresses.refund(address)];
    const giveBack = (): void => taken.forEach((give) => give());
    if (subject === undefined) return { outcome: "begun", party, giveBack };
    const pair = `${party.key} ${subject}`;
    const isNewcomer = newcomers.take(pair).allowed;
    if (isNewcomer) taken.push(() => newcomers.refund(pair));
    const ofSubject = subjects.take(subject, isNewcomer ? 0 : keptForNewcomers);
    if (!ofSubject.allowed) {
      // It was no guess: nobody has looked at it.
      giveBack();
      return { outcome: "limited", decision: ofSubject };
    }
    taken.push(() => subjects.refund(subject));
    return { outcome: "begun", party, giveBack };
  };
}

/** A client as a party in queues: its network. */
export function strangerAt(address: string): Party {
  return { key: networkOf(address), isKnown: false };
}
