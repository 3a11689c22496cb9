/**
 * Finds the owner of an API key. In order: form and checksum (free), environment, the key's row
 * (always read, so that a revocation on any process holds at once), and Argon2id only when this
 * process has not verified the very same key before. Requests that bring one key at the same time
 * share one verification.
 */
import {
  type AccountId,
  type ApiKeyEnvironment,
  type KeyId,
  parseApiKey,
} from "../../proto/mod.ts";
import type { ClientAttempts } from "./attempts.ts";
import type { Actor, Clock, Hasher, KeyMaker, KeyStore, QueueParty, StoredKey } from "./deps.ts";
import { hasScope, type KeyScope, type StoredKeyOptions } from "./key_permissions.ts";
import type { RateDecision } from "./rate_limit.ts";
import { Secret } from "../../server/secret.ts";

/** An account, and the key or the console session that speaks for it. */
export interface Caller extends KeyMaker {
  readonly accountId: AccountId;
  readonly plan: string;
  /** Undefined for a plain key and for a session. */
  readonly traits?: StoredKeyOptions | undefined;
  readonly suspended?: boolean;
  readonly addressLost?: boolean;
  readonly nearLimit?: string | undefined;
}

/** A session may do what a plain key may, except that its tokens come from a path of their own. */
export function mayUse({ traits, sessionId }: Caller, scope: KeyScope): boolean {
  if (sessionId !== undefined) return scope !== "tokens";
  return traits === undefined || hasScope(traits, scope);
}

export function actorOf({ keyId, sessionId }: KeyMaker): Actor {
  if (sessionId !== undefined) return `session:${sessionId}`;
  return keyId === undefined ? "password" : `key:${keyId}`;
}

export type Authentication =
  | { readonly outcome: "accepted"; readonly caller: Caller }
  | {
    readonly outcome: "refused";
    readonly code: "auth_failed" | "auth_key_invalid";
    readonly text: string;
  }
  | { readonly outcome: "limited"; readonly decision: RateDecision };

export interface AuthenticatorDeps {
  readonly store: Pick<KeyStore, "findKey">;
  readonly clock: Clock;
  readonly hasher: Hasher;
  readonly environment: ApiKeyEnvironment;
  /** A keyed one-way function of the API key: what is remembered must not be a key. */
  readonly fingerprint: (key: Secret) => string;
  /** Verified keys to remember; 0 verifies every request. */
  readonly memorySize: number;
  readonly onUse: (keyId: KeyId) => void;
}

export interface Authenticator {
  /** `header` is the value of `Authorization`. */
  authenticate(header: string | undefined, attempts: ClientAttempts): Promise<Authentication>;
}

const bearer = /^Bearer +([^\s]+)$/i;
export const unknownKey =
  "Invalid API key: it is unknown, was revoked or has expired. Create a new key, or check that it was copied completely";

export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { store, hasher } = deps;
  const verified = createVerifiedKeys(deps.memorySize);
  const verifying = new Map<string, Promise<boolean>>();

  // Refuses a key of a wrong form: no guess could be right, so it costs its address nothing.
  const refuse = (code: "auth_failed" | "auth_key_invalid", text: string): Authentication => ({
    outcome: "refused",
    code,
    text,
  });
  const accept = (
    { id, accountId, plan, traits, suspended, addressLost, nearLimit }: StoredKey,
  ): Authentication => {
    deps.onUse(id);
    const state = { ...(suspended && { suspended }), ...(addressLost && { addressLost }) };
    return {
      outcome: "accepted",
      caller: { accountId, keyId: id, plan, traits, nearLimit, ...state },
    };
  };
  const isOver = ({ revoked, traits }: StoredKey): boolean =>
    revoked || (typeof traits?.expiresAtMs === "number" && traits.expiresAtMs <= deps.clock());

  const verify = (
    key: Secret,
    fingerprint: string,
    hash: string | undefined,
    party: QueueParty,
  ): Promise<boolean> => {
    const running = verifying.get(fingerprint);
    if (running !== undefined) return running;
    const started = hasher.verify(key, hash, party).finally(() => verifying.delete(fingerprint));
    verifying.set(fingerprint, started);
    return started;
  };

  return {
    authenticate: async (header, attempts) => {
      const text = header === undefined ? undefined : bearer.exec(header)?.[1];
      if (text === undefined) {
        return refuse(
          "auth_failed",
          "Send your API key in the header Authorization: Bearer <API_KEY>",
        );
      }
      const parsed = parseApiKey(text);
      if (parsed === undefined) return refuse("auth_key_invalid", malformedText(text));
      if (parsed.environment !== deps.environment) {
        return refuse(
          "auth_key_invalid",
          `Wrong environment: this deployment expects a key that begins with sk_${deps.environment}_`,
        );
      }

      const key = new Secret(text);
      const fingerprint = deps.fingerprint(key);
      const row = await store.findKey(parsed.keyPrefix);
      if (row !== undefined && !isOver(row) && verified.has(fingerprint, row.id)) {
        return accept(row);
      }

      const judgement = await attempts.judge(async () => {
        // while this one waited
        const isVerified = row !== undefined && verified.has(fingerprint, row.id);
        const party = { ...attempts.party, isKnown: row !== undefined };
        const matches = isVerified || await verify(key, fingerprint, row?.keyHash, party);
        // Read again: the hash may have waited for seconds in its queue, and a revocation holds
        // from its own moment on.
        const current = matches ? await store.findKey(parsed.keyPrefix) : undefined;
        return { isGood: current !== undefined && !isOver(current), value: current };
      });
      if (judgement.outcome === "limited") return judgement;
      const { value: current } = judgement;
      if (current === undefined || isOver(current)) {
        return { outcome: "refused", code: "auth_key_invalid", text: unknownKey };
      }
      verified.add(fingerprint, current.id);
      return accept(current);
    },
  };
}

/** Says which mistake it probably was, from the text's form alone. */
function malformedText(text: string): string {
  if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)) {
    return "Invalid API key: this is a token. Tokens are for the relay; send the API key itself";
  }
  return "Invalid API key: its form or checksum is wrong. Check that it was copied completely";
}

interface VerifiedKeys {
  has(fingerprint: string, id: KeyId): boolean;
  add(fingerprint: string, id: KeyId): void;
}

/** Bounded: the key verified longest ago is forgotten first, and then simply verified again. */
function createVerifiedKeys(size: number): VerifiedKeys {
  const ids = new Map<string, KeyId>();
  return {
    has: (fingerprint, id) => ids.get(fingerprint) === id,
    add: (fingerprint, id) => {
      if (size === 0) return;
      ids.set(fingerprint, id);
      if (ids.size <= size) return;
      for (const oldest of ids.keys()) {
        ids.delete(oldest);
        break;
      }
    },
  };
}
