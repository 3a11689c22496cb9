/** The rates of the API, as its configuration has them. */
import type { AppDeps } from "./app.ts";
import type { Config } from "./config.ts";
import { type BeginGuess, createGuesses } from "./domain/guesses.ts";
import {
  createOwnRates,
  type RateLimit,
  type RateLimiter,
  type Rates,
  type RateStore,
} from "./domain/rate_limit.ts";
import { describeFailure, type Log, type Secret } from "../server/mod.ts";
import { createHide } from "./cryptography.ts";
import type { Clock } from "./domain/deps.ts";
import { createSharedRates } from "./shared_rates.ts";

const dayMs = 86_400_000;
/** A client may ask for mail to several addresses. */
const mailClientShare = 4;
/** To a mailbox, whatever accounts it has and had. */
const resetMails = { limit: 3, windowMs: 3_600_000 };
/**
 * The part of an account's rate of requests that each of its guest passes has, and each network
 * with a publishable key.
 */
const sharedKeyShare = 0.1;
/**
 * The part of a subject's rate of wrong passwords that one network has: half of the rate at once,
 * and a twentieth of it with time.
 */
const pairShare = 0.5;
const pairWindows = 10;
/** A network that fails for more mailboxes and accounts in a day is a newcomer for none. */
const newcomerSubjectsADay = 32;
/** Failures of all known places of an account together, and of its keys and sessions together. */
const knownFailuresADay = 100;

/** Rates that follow from others, or that nothing sets. */
type DerivedRate =
  | "sharedKeys"
  | "mailClients"
  | "resetMails"
  | "pairs"
  | "known"
  | "newcomers"
  | "newcomerNetworks";

export function ratesOf(
  { rateLimits }: Config,
): Config["rateLimits"] & Readonly<Record<DerivedRate, RateLimit>> {
  const { account, mail, passwords } = rateLimits;
  return {
    ...rateLimits,
    sharedKeys: partOf(account, sharedKeyShare),
    mailClients: { ...mail, limit: mailClientShare * mail.limit },
    resetMails,
    pairs: { ...partOf(passwords, pairShare), windowMs: pairWindows * passwords.windowMs },
    known: { limit: knownFailuresADay, windowMs: dayMs },
    newcomers: { limit: 1, windowMs: dayMs },
    newcomerNetworks: { limit: newcomerSubjectsADay, windowMs: dayMs },
  };
}

interface RatesDeps {
  readonly store: RateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly secret: Secret;
}

/** In the database, where all processes find them, or in the memory of this one. */
export function createRates(isShared: boolean, { store, clock, log, secret }: RatesDeps): Rates {
  if (!isShared) return createOwnRates(clock);
  return createSharedRates({
    store,
    hide: createHide(secret, "static rates "),
    onFault: (error) => log("warn", "rate_not_given_back", { error: describeFailure(error) }),
  });
}

export function createRateLimits(config: Config, make: Rates): AppDeps["rateLimits"] {
  const rates = ratesOf(config);
  return {
    signUp: make.ofAddresses("sign-ups", "sign-up", rates.signUp),
    failures: make.ofAddresses("keys", "failures", rates.failures),
    account: make.ofSubjects("accounts", "account", rates.account),
    sharedKeys: make.ofSubjects("shared keys", "key", rates.sharedKeys),
    publishableKeys: make.ofSubjects("publishable keys", "key", rates.account),
    changes: make.ofSubjects("changes", "changes", rates.changes),
    badges: make.ofSubjects("badges", "badges", rates.changes),
    mail: make.ofSubjects("mail", "mail", rates.mail),
    mailClients: make.ofAddresses("mail clients", "mail", rates.mailClients),
  };
}

/**
 * Limits of requests for a reset, which no answer shows: they would tell whether there is an
 * account.
 */
export function createResetLimits(
  config: Config,
  make: Rates,
): { readonly clients: RateLimiter; readonly mails: RateLimiter } {
  const { mailClients, resetMails } = ratesOf(config);
  return {
    clients: make.ofAddresses("reset clients", "resets", mailClients),
    mails: make.ofSubjects("reset mails", "reset-mails", resetMails),
  };
}

export function createPasswordGuesses(config: Config, make: Rates): BeginGuess {
  const { known, failures, pairs, newcomers, newcomerNetworks, passwords } = ratesOf(config);
  return createGuesses({
    known: make.ofSubjects("known places", "known-places", known),
    addresses: make.ofAddresses("guesses", "failures", failures),
    pairs: make.ofSubjects("pairs", "passwords", pairs),
    newcomers: make.ofSubjects("newcomers", "newcomers", newcomers),
    newcomerNetworks: make.ofSubjects("newcomer networks", "newcomers", newcomerNetworks),
    subjects: make.ofSubjects("passwords", "passwords", passwords),
    keptForNewcomers: Math.floor(passwords.limit / 2),
  });
}

function partOf({ limit, windowMs }: RateLimit, part: number): RateLimit {
  return { limit: Math.max(1, Math.floor(limit * part)), windowMs };
}
