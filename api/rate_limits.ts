/** The rates of one process, as its configuration has them. */
import type { AppDeps } from "./app.ts";
import type { Config } from "./config.ts";
import type { Clock } from "./domain/deps.ts";
import { type BeginGuess, createGuesses } from "./domain/guesses.ts";
import {
  createAddressLimiter,
  createRateLimiter,
  type RateLimit,
  type RateLimiter,
} from "./domain/rate_limit.ts";

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
 * Of a subject's rate of wrong passwords, for one network: half of it at once, and a twentieth of
 * it with time.
 */
const pairShare = 0.5;
const pairWindows = 10;
/** A network that fails for more mailboxes and accounts in a day is a newcomer for none. */
const newcomerSubjectsADay = 32;
/** Of all known places of an account together, and of its keys and sessions together. */
const knownFailuresADay = 100;

/** Those that follow from others, or that nothing sets. */
type Derived =
  | "sharedKeys"
  | "mailClients"
  | "resetMails"
  | "pairs"
  | "known"
  | "newcomers"
  | "newcomerNetworks";

export function ratesOf(
  { rateLimits }: Config,
): Config["rateLimits"] & Readonly<Record<Derived, RateLimit>> {
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

export function createRateLimits(config: Config, clock: Clock): AppDeps["rateLimits"] {
  const rates = ratesOf(config);
  return {
    signUp: createAddressLimiter("sign-up", rates.signUp, clock),
    failures: createAddressLimiter("failures", rates.failures, clock),
    account: createRateLimiter("account", rates.account, clock),
    sharedKeys: createRateLimiter("key", rates.sharedKeys, clock),
    publishableKeys: createRateLimiter("key", rates.account, clock),
    changes: createRateLimiter("changes", rates.changes, clock),
    badges: createRateLimiter("badges", rates.changes, clock),
    mail: createRateLimiter("mail", rates.mail, clock),
    mailClients: createAddressLimiter("mail", rates.mailClients, clock),
  };
}

/**
 * Limits of requests for a reset, which no answer shows: they would tell whether there is an
 * account.
 */
export function createResetLimits(
  config: Config,
  clock: Clock,
): { readonly clients: RateLimiter; readonly mails: RateLimiter } {
  const { mailClients, resetMails } = ratesOf(config);
  return {
    clients: createAddressLimiter("resets", mailClients, clock),
    mails: createRateLimiter("reset-mails", resetMails, clock),
  };
}

export function createPasswordGuesses(config: Config, clock: Clock): BeginGuess {
  const { known, failures, pairs, newcomers, newcomerNetworks, passwords } = ratesOf(config);
  return createGuesses({
    known: createRateLimiter("known-places", known, clock),
    addresses: createAddressLimiter("failures", failures, clock),
    pairs: createRateLimiter("passwords", pairs, clock),
    newcomers: createRateLimiter("newcomers", newcomers, clock),
    newcomerNetworks: createRateLimiter("newcomers", newcomerNetworks, clock),
    subjects: createRateLimiter("passwords", passwords, clock),
    keptForNewcomers: Math.floor(passwords.limit / 2),
  });
}

function partOf({ limit, windowMs }: RateLimit, part: number): RateLimit {
  return { limit: Math.max(1, Math.floor(limit * part)), windowMs };
}
