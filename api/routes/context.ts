/** Values that a request carries through the HTTP layer, and dependencies of the routes. */
import type { Context } from "hono";
import type { ErrorCode } from "../../proto/mod.ts";
import type { AccountLifecycle } from "../domain/account_lifecycle.ts";
import type { Accounts } from "../domain/accounts.ts";
import type { ClientAttempts } from "../domain/attempts.ts";
import type { Badges } from "../domain/badges.ts";
import type { Authenticator, Caller } from "../domain/authentication.ts";
import type { Changes } from "../domain/changes.ts";
import type { Keys } from "../domain/keys.ts";
import type { Clock } from "../domain/deps.ts";
import type { Store } from "../domain/store.ts";
import type { Devices } from "../domain/devices.ts";
import type { BeginGuess } from "../domain/guesses.ts";
import type { RateLimiter } from "../domain/rate_limit.ts";
import type { Resets } from "../domain/resets.ts";
import type { Discovery } from "../discovery.ts";
import type { Secret } from "../../server/mod.ts";
import type { ConsoleSessions } from "../domain/sessions.ts";
import type { Tokens } from "../domain/tokens.ts";
import type { UsageService } from "../domain/usage.ts";

export interface AppEnv {
  readonly Bindings: {
    /** The address of the other end of the connection, where the platform tells. */
    readonly peer: string | undefined;
    /** To be called when the body has come whole. */
    readonly received?: (() => void) | undefined;
  };
  readonly Variables: {
    requestId: string;
    /**
     * The route's template for logs and metrics: a path may hold what somebody should not have put
     * there.
     */
    route: string;
    /** A request that waits on purpose. */
    isLongPoll: boolean;
    clientAddress: string;
    caller?: Caller;
    /** The code of the error that was answered, for the log. */
    errorCode?: ErrorCode;
    fault?: unknown;
  };
}

export type ApiContext = Context<AppEnv>;

export interface RouteDeps {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly tokens: Tokens;
  readonly badges: Badges;
  readonly usage: UsageService;
  readonly life: AccountLifecycle;
  readonly sessions: ConsoleSessions;
  readonly changes: Changes;
  readonly discovery: Discovery;
  /** Cookies travel over TLS only. */
  readonly secureCookies: boolean;
  readonly authenticator: Authenticator;
  /** Per client address, out of `rateLimits.failures`. */
  readonly attempts: (address: string) => ClientAttempts;
  readonly beginGuess: BeginGuess;
  readonly devices: Devices;
  readonly resets: Resets;
  readonly store: Pick<Store, "ping" | "readOwnEvents">;
  readonly clock: Clock;
  readonly relaySecret: Secret;
  readonly maxBodyBytes: number;
  readonly rateLimits: {
    /** Per client address. */
    readonly signUp: RateLimiter;
    /**
     * Per client address: keys, sessions and relay secrets, which nobody guesses. Passwords and
     * codes are counted apart.
     */
    readonly failures: RateLimiter;
    /** Per account. */
    readonly account: RateLimiter;
    /**
     * Per guest pass, and per publishable key and network: keys that strangers have spend nothing
     * of the account's.
     */
    readonly sharedKeys: RateLimiter;
    /** Per publishable key, over all networks. */
    readonly publishableKeys: RateLimiter;
    /** Per account: what changes something stays in the audit for ever. */
    readonly changes: RateLimiter;
    /** Per account, too: what programs ask for by themselves leaves people what they need. */
    readonly badges: RateLimiter;
    /** Per address that mail is sent to, over all clients, and per client address. */
    readonly mail: RateLimiter;
    readonly mailClients: RateLimiter;
  };
}
