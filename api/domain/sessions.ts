/**
 * Sessions of the console: 256 random bits in a cookie, of which the database has the SHA-256, for
 * one hour. The value that a page must send back with every change is derived from them, so that
 * nothing else has to be kept.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeBase64url, encodeBase64url, equalBytes } from "../../proto/mod.ts";
import { Secret } from "../../server/secret.ts";
import type { AccountSession, OpenSession, SessionStore, StoredLogin } from "./account_store.ts";
import type { Caller } from "./authentication.ts";
import { actorOf } from "./authentication.ts";
import type { AuditStamp, Clock, NewId, RandomBytes } from "./deps.ts";

export const sessionLifetimeMs = 3_600_000;
const secretBytes = 32;

export interface OpenedSession {
  readonly secret: Secret;
  readonly csrf: string;
  readonly expiresAtMs: number;
}

export interface ConsoleSessions {
  /**
   * Undefined when the password was changed, or the account suspended, after it had been compared.
   */
  open(login: Pick<StoredLogin, "id" | "passwordHash">): Promise<OpenedSession | undefined>;
  /** Undefined when it is over, or never was. */
  find(secret: string): Promise<{ session: AccountSession; csrf: string } | undefined>;
  list(caller: Caller): Promise<readonly OpenSession[]>;
  /** Ends the caller's own session, or another one of its account by its id. */
  end(caller: Caller, id?: string): Promise<boolean>;
  endAll(caller: Caller): Promise<number>;
}

export interface SessionsDeps {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly randomBytes: RandomBytes;
}

export function createSessions(
  { store, clock, newId, randomBytes }: SessionsDeps,
): ConsoleSessions {
  const act = (caller: Caller): AuditStamp => ({ atMs: clock(), actor: actorOf(caller) });
  return {
    open: async ({ id: accountId, passwordHash }) => {
      const secret = randomBytes(secretBytes);
      const atMs = clock();
      const expiresAtMs = atMs + sessionLifetimeMs;
      const isOpen = await store.openSession({
        id: newId(),
        accountId,
        passwordHash,
        secretHash: sha256(secret),
        expiresAtMs,
        atMs,
        actor: "password",
      });
      if (!isOpen) return undefined;
      return { secret: new Secret(encodeBase64url(secret)), csrf: csrfOf(secret), expiresAtMs };
    },
    find: async (text) => {
      const secret = parseSecret(text);
      if (secret === undefined) return undefined;
      const session = await store.findSession(sha256(secret), clock());
      return session && { session, csrf: csrfOf(secret) };
    },
    list: ({ accountId }) => store.listSessions(accountId, clock()),
    end: async (caller, id = caller.sessionId) =>
      id !== undefined && await store.endSession({ id, accountId: caller.accountId }, act(caller)),
    endAll: (caller) => store.endSessions(caller.accountId, act(caller)),
  };
}

/** Whether the text could be the secret of a session. */
export function isSessionForm(text: string): boolean {
  return parseSecret(text) !== undefined;
}

function parseSecret(text: string): Uint8Array | undefined {
  const secret = decodeBase64url(text);
  return secret?.length === secretBytes ? secret : undefined;
}

/** In constant time: both are hashed first. */
export function isSameCsrf(given: string, expected: string): boolean {
  const encoder = new TextEncoder();
  return equalBytes(sha256(encoder.encode(given)), sha256(encoder.encode(expected)));
}

function csrfOf(secret: Uint8Array): string {
  return encodeBase64url(
    sha256.create().update(new TextEncoder().encode("static csrf 1 ")).update(secret).digest(),
  );
}
