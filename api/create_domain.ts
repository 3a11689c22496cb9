/**
 * The rules of the API put together: each gets the others that it needs, and what comes from
 * outside.
 */
import { after, describeFailure, type Log, type Secret } from "../server/mod.ts";
import type { AppDeps } from "./app.ts";
import type { Config } from "./config.ts";
import { createFingerprint, createSign } from "./cryptography.ts";
import { createAccountLife } from "./domain/account_lifecycle.ts";
import { createAccounts } from "./domain/accounts.ts";
import { createAttempts } from "./domain/attempts.ts";
import { type AuthenticatorDeps, createAuthenticator } from "./domain/authentication.ts";
import { createBadges } from "./domain/badges.ts";
import { createChanges } from "./domain/changes.ts";
import type { Clock } from "./domain/deps.ts";
import { createDevices } from "./domain/devices.ts";
import { createKeys } from "./domain/keys.ts";
import { createResets } from "./domain/resets.ts";
import { createSessions } from "./domain/sessions.ts";
import type { Store } from "./domain/store.ts";
import { createTokens } from "./domain/tokens.ts";
import { createUsage } from "./domain/usage.ts";
import type { Pools } from "./hashing/pools.ts";
import type { KeyRingSource } from "./key_ring_file.ts";
import {
  createPasswordGuesses,
  createRateLimits,
  createRates,
  createResetLimits,
} from "./rate_limits.ts";

const maxWaitingResets = 1000;

export type Domain = Pick<
  AppDeps,
  | "accounts"
  | "life"
  | "sessions"
  | "changes"
  | "keys"
  | "tokens"
  | "badges"
  | "usage"
  | "authenticator"
  | "attempts"
  | "beginGuess"
  | "devices"
  | "resets"
  | "rateLimits"
>;

export interface DomainDeps {
  readonly config: Config;
  readonly store: Store;
  readonly pools: Pools;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRingSource;
  readonly relaySecret: Secret;
  readonly onUse: AuthenticatorDeps["onUse"];
  /** Other processes share the rates of clients and accounts. */
  readonly sharesRates: boolean;
}

export function createDomain(
  { config, store, pools, clock, log, keyRing, relaySecret, onUse, sharesRates }: DomainDeps,
): Domain {
  const hasher = pools.keys.hasher(config.hashing.keys);
  const passwords = pools.passwords.hasher(config.hashing.passwords);
  const newId = (): string => crypto.randomUUID();
  const { environment } = config;
  const randomBytes = (length: number): Uint8Array<ArrayBuffer> =>
    crypto.getRandomValues(new Uint8Array(length));
  const keys = createKeys({
    store,
    hasher,
    clock,
    randomBytes,
    newId,
    environment,
    limits: config,
  });
  const rates = createRates(sharesRates, { store, clock, log, secret: relaySecret });
  const rateLimits = createRateLimits(config, rates);
  const plan = config.defaultPlan;
  const devices = createDevices({ secret: relaySecret, store, clock, randomBytes });
  const resetLimits = createResetLimits(config, rates);
  const resetMails = resetLimits.mails;
  const life = createAccountLife({
    store,
    passwords,
    keys,
    devices,
    clock,
    newId,
    randomBytes,
    plan,
    resetMails,
  });
  return {
    accounts: createAccounts({
      store,
      passwords,
      keys,
      devices,
      clock,
      newId,
      plan,
      logIn: life.logIn,
    }),
    life,
    sessions: createSessions({ store, clock, newId, randomBytes }),
    changes: createChanges({ store, clock, after }),
    keys,
    tokens: createTokens({ ring: keyRing.rings, createSign, clock }),
    badges: createBadges({
      store,
      rings: keyRing.rings,
      createSign,
      domain: config.badgeDomain,
      clock,
    }),
    usage: createUsage({ store, clock, newId }),
    authenticator: createAuthenticator({
      store,
      clock,
      hasher,
      environment,
      fingerprint: createFingerprint(),
      memorySize: config.keyMemory,
      onUse,
    }),
    attempts: createAttempts(rateLimits.failures),
    beginGuess: createPasswordGuesses(config, rates),
    devices,
    resets: createResets({
      places: maxWaitingResets,
      elapsedMs: () => performance.now(),
      askReset: life.askReset,
      clients: resetLimits.clients,
      onDropped: (reason, error) =>
        log("warn", "reset_not_sent", {
          reason,
          ...(error !== undefined && { error: describeFailure(error) }),
        }),
    }),
    rateLimits,
  };
}
