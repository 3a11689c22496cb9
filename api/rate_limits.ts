/** The rates of one process, as its configuration has them. */
import type { AppDeps } from "./app.ts";
import type { Config } from "./config.ts";
import type { Clock } from "./domain/deps.ts";
import { type BeginGuess, createGuesses } from "./domain/guesses.ts";
import { createAddressLimiter, createRateLimiter } from "./domain/rate_limit.ts";

const dayMs = 86_400_000;
/** A client may ask for mail to several addresses. */
const mailClientShare = 4;
/** The part of an account's rate of requests that each of its publishable keys and guest passes has. */
const sharedKeyShare = 0.1;
/** Of all known places of an account together. */
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
    changes: createRateLimiter("changes", rateLimits.changes, clock),
    mail: createRateLimiter("mail", rateLimits.mail, clock),
    mailClients: createAddressLimiter(
      "mail",
      { ...rateLimits.mail, limit: mailClientShare * rateLimits.mail.limit },
      clock,
    ),
  };
}

export function createPasswordGuesses({ rateLimits: { failures, passwords } }: Config, clock: Clock): BeginGuess {
  return createGuesses({
    known: createRateLimiter("known-places", { limit: knownFailuresADay, windowMs: dayMs }, clock),
    addresses: createAddressLimiter("failures", failures, clock),
    newcomers: createRateLimiter("newcomers", { limit: 1, windowMs: dayMs }, clock),
    subjects: createRateLimiter("passwords", passwords, clock),
    keptForNewcomers: Math.floor(passwords.limit / 2),
  });
}
