/** The rates of one process, as its configuration has them. */
import type { AppDeps } from "./app.ts";
import type { Config } from "./config.ts";
import type { Clock } from "./domain/deps.ts";
import { type BeginGuess, createGuesses } from "./domain/guesses.ts";
import { createAddressLimiter, createRateLimiter, type RateLimit, type RateLimiter } from "./domain/rate_limit.ts";

const dayMs = 86_400_000;
/** A client may ask for mail to several addresses. */
const mailClientShare = 4;
/** To a mailbox, whatever accounts it has and had. */
const resetMails = { limit: 3, windowMs: 3_600_000 };
/** The part of an account's rate of requests that each of its guest passes has, and each network with a publishable key. */
const sharedKeyShare = 0.1;
/** Of a subject's rate of wrong passwords, for one network: half of it at once, and a twentieth of it with time. */
const pairShare = 0.5;
const pairWindows = 10;
/** A network that fails for more mailboxes and accounts in a day is a newcomer for none. */
const newcomerSubjectsADay = 32;
/** Of all known places of an account together, and of its keys and sessions together. */
const knownFailuresADay = 100;

export function createRateLimits({ rateLimits }: Config, clock: Clock): AppDeps["rateLimits"] {
  return {
    signUp: createAddressLimiter("sign-up", rateLimits.signUp, clock),
    failures: createAddressLimiter("failures", rateLimits.failures, clock),
    account: createRateLimiter("account", rateLimits.account, clock),
    sharedKeys: createRateLimiter(
      "key",
      { ...rateLimits.account, limit: Math.max(1, Math.floor(rateLimits.account.limit * sharedKeyShare)) },
      clock,
    ),
    publishableKeys: createRateLimiter("key", rateLimits.account, clock),
    changes: createRateLimiter("changes", rateLimits.changes, clock),
    mail: createRateLimiter("mail", rateLimits.mail, clock),
    mailClients: createAddressLimiter("mail", mailsOfClient(rateLimits.mail), clock),
  };
}

/** Limits of requests for a reset, which no answer shows: they would tell whether there is an account. */
export function createResetLimits(
  { rateLimits }: Config,
  clock: Clock,
): { readonly clients: RateLimiter; readonly mails: RateLimiter } {
  return {
    clients: createAddressLimiter("resets", mailsOfClient(rateLimits.mail), clock),
    mails: createRateLimiter("reset-mails", resetMails, clock),
  };
}

function mailsOfClient(mail: RateLimit): RateLimit {
  return { ...mail, limit: mailClientShare * mail.limit };
}

export function createPasswordGuesses({ rateLimits: { failures, passwords } }: Config, clock: Clock): BeginGuess {
  return createGuesses({
    known: createRateLimiter("known-places", { limit: knownFailuresADay, windowMs: dayMs }, clock),
    addresses: createAddressLimiter("failures", failures, clock),
    pairs: createRateLimiter("passwords", ofPair(passwords), clock),
    newcomers: createRateLimiter("newcomers", { limit: 1, windowMs: dayMs }, clock),
    newcomerNetworks: createRateLimiter("newcomers", { limit: newcomerSubjectsADay, windowMs: dayMs }, clock),
    subjects: createRateLimiter("passwords", passwords, clock),
    keptForNewcomers: Math.floor(passwords.limit / 2),
  });
}

function ofPair({ limit, windowMs }: RateLimit): RateLimit {
  return { limit: Math.max(1, Math.floor(limit * pairShare)), windowMs: windowMs * pairWindows };
}
