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
import type { QueueParty } from "./deps.ts";
import type { RateDecision, RateLimiter, SubjectLimiter } from "./rate_limit.ts";

export interface GuessLimits {
  /** Per account: all its known places together, and apart from them its keys and sessions. */
  readonly known: RateLimiter;
  /** Per client address. */
  readonly addresses: RateLimiter;
  /** Per network and subject. */
  readonly pairs: SubjectLimiter;
  /** Per network and subject: one a day. */
  readonly newcomers: SubjectLimiter;
  /**
   * Per network, over all subjects. Otherwise networks could fail so often that their first
   * failures are forgotten.
   */
  readonly newcomerNetworks: SubjectLimiter;
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

export type GuessVerdict =
  | { readonly outcome: "limited"; readonly decision: RateDecision }
  | {
    readonly outcome: "begun";
    readonly party: QueueParty;
    readonly giveBack: () => Promise<void>;
  };

/** Asks for the budgets of one attempt. */
export type BeginGuess = (guess: Guess) => Promise<GuessVerdict>;

export function createGuesses(limits: GuessLimits): BeginGuess {
  const { known, addresses, pairs, newcomers, newcomerNetworks, subjects, keptForNewcomers } =
    limits;
  return async ({ address, subject, knownTo }) => {
    // Beyond its budget a known place is a stranger: a thief of its token cannot take more from the
    // owner than that.
    if (knownTo !== undefined) {
      const { accountId, by } = knownTo;
      // Many programs may have a key. They do not use up what the owner's own places have.
      const payer = `${by} ${accountId}`;
      if ((await known.take(payer)).allowed) {
        return {
          outcome: "begun",
          party: { key: accountId, isKnown: true },
          giveBack: async () => await known.refund(payer),
        };
      }
    }
    const party = strangerAt(address);
    const asked = new AskedBudgets();
    await asked.takeFirst(addresses, address);
    if (subject !== undefined) {
      const pair = `${party.key} ${subject}`;
      await asked.take(pairs, pair);
      const isNewcomer = await asked.takeBoth([newcomers, pair], [newcomerNetworks, party.key]);
      // The budget that others need comes last.
      await asked.take(subjects, subject, isNewcomer ? 0 : keptForNewcomers);
    }
    const { refusal, giveBack } = asked;
    if (refusal === undefined) return { outcome: "begun", party, giveBack };
    // The attempt was no guess: nobody has looked at it.
    await giveBack();
    return { outcome: "limited", decision: refusal };
  };
}

/**
 * The budgets that one attempt has asked. After a refusal it only looks at the rest, for the
 * longest wait: the attempts of a flood, which are refused, must not hold what belongs to others
 * until they have given it back.
 */
class AskedBudgets {
  readonly #taken: (() => void | Promise<void>)[] = [];
  readonly #refusals: RateDecision[] = [];

  /** The one that takes longest. */
  get refusal(): RateDecision | undefined {
    return this.#refusals.sort((a, b) => b.resetMs - a.resetMs)[0];
  }

  readonly giveBack = async (): Promise<void> => {
    for (const giveBack of this.#taken) await giveBack();
  };

  async takeFirst(limiter: RateLimiter, subject: string): Promise<void> {
    const decision = await limiter.take(subject);
    if (!decision.allowed) this.#refusals.push(decision);
    else this.#taken.push(() => limiter.refund(subject));
  }

  async take(limiter: SubjectLimiter, subject: string, kept = 0): Promise<void> {
    const decision = await this.#ask(limiter, subject, kept);
    if (!decision.allowed) this.#refusals.push(decision);
    else if (this.#refusals.length === 0) this.#taken.push(() => limiter.refund(subject));
  }

  /** Returns whether both had one; else neither is taken, and nothing is refused for it. */
  async takeBoth(...both: (readonly [SubjectLimiter, string])[]): Promise<boolean> {
    const taken: (() => void | Promise<void>)[] = [];
    for (const [limiter, subject] of both) {
      if (!(await this.#ask(limiter, subject, 0)).allowed) {
        for (const giveBack of taken) await giveBack();
        return false;
      }
      if (this.#refusals.length === 0) taken.push(() => limiter.refund(subject));
    }
    this.#taken.push(...taken);
    return true;
  }

  async #ask(limiter: SubjectLimiter, subject: string, kept: number): Promise<RateDecision> {
    return this.#refusals.length === 0
      ? await limiter.take(subject, kept)
      : await limiter.look(subject, kept);
  }
}

/** A client as a party in queues: its network. */
export function strangerAt(address: string): QueueParty {
  return { key: networkOf(address), isKnown: false };
}
