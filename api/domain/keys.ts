/**
 * API keys of an account: made, listed, revoked. The full key exists only in the answer to its
 * creation.
 */
import {
  type AccountId,
  type ApiKeyEnvironment,
  apiKeyLookupLength,
  apiKeySecretLength,
  encodeApiKey,
  encodeBase62,
  type KeyId,
  parseApiKey,
  parseKeyId,
} from "../../proto/mod.ts";
import { actorOf, type Caller } from "./authentication.ts";
import { Fault } from "./fault.ts";
import type {
  AdditionRefusal,
  AuditStamp,
  Clock,
  Hasher,
  KeyAddition,
  KeyLimits,
  KeyMaker,
  KeyRecord,
  KeyStore,
  QueueParty,
} from "./deps.ts";
import type { NewId, NewKey, RandomBytes, StoredRotation } from "./deps.ts";
import { type KeyOptions, mayMake, plainTraits } from "./key_permissions.ts";
import { Secret } from "../../server/secret.ts";

export const defaultKeyName = "default";

/**
 * Two random lookups of 47 bits that collide three times in a row mean broken randomness, not bad
 * luck.
 */
const maxPrefixAttempts = 3;

export interface IssuedKey {
  readonly id: KeyId;
  readonly keyPrefix: string;
  readonly name: string;
  readonly key: Secret;
  readonly traits: KeyOptions;
}

export type KeyRefusal =
  | { readonly outcome: "key_limit_reached"; readonly limit: number }
  /** The key or session that asked for it has ended after its request had been accepted. */
  | { readonly outcome: "revoked" }
  /** The key that asked for it may do less. */
  | { readonly outcome: "beyond" };

export type KeyCreation = { readonly outcome: "created"; readonly key: IssuedKey } | KeyRefusal;

export type KeyRotationOutcome =
  | { readonly outcome: "rotated"; readonly key: IssuedKey; readonly oldExpiresAtMs: number }
  | { readonly outcome: "not_found" }
  | { readonly outcome: "conflict" }
  | KeyRefusal;

/** Owner of the new key; without key and session a password asked for it. */
export type Owner =
  & Pick<Caller, "accountId" | "keyId" | "sessionId" | "traits">
  & Pick<KeyMaker, "passwordHash">;

export interface KeysDeps {
  readonly store: KeyStore;
  readonly hasher: Hasher;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly newId: NewId;
  readonly environment: ApiKeyEnvironment;
  readonly limits: KeyLimits;
}

export interface Keys {
  create(
    owner: Owner,
    wanted: { readonly name: string; readonly traits?: KeyOptions },
  ): Promise<KeyCreation>;
  /** A successor with the same traits; the old key works for a while longer. */
  rotate(owner: Owner, keyId: KeyId, overlapMs: number): Promise<KeyRotationOutcome>;
  list(accountId: AccountId): Promise<readonly KeyRecord[]>;
  revoke(owner: Owner, keyId: KeyId): Promise<boolean>;
  /**
   * A fresh key, hashed in this party's turn and given to `save`, again with another one as long as
   * `save` finds its prefix taken.
   */
  issue<Outcome>(
    party: QueueParty,
    save: (key: Omit<NewKey, "name" | "traits">) => Promise<Outcome | "prefix_taken">,
  ): Promise<{ key: Pick<IssuedKey, "id" | "keyPrefix" | "key">; outcome: Outcome }>;
}

export function createKeys(deps: KeysDeps): Keys {
  const { store, hasher, clock, limits } = deps;

  const issue: Keys["issue"] = async (party, save) => {
    for (let attempt = 0; attempt < maxPrefixAttempts; attempt++) {
      const key = new Secret(randomKey(deps));
      const keyPrefix = parseApiKey(key.reveal())?.keyPrefix ?? "";
      const id = parseKeyId(deps.newId());
      const outcome = await save({
        id,
        keyPrefix,
        keyHash: await hasher.hash(key, party),
        createdAtMs: clock(),
      });
      if (outcome !== "prefix_taken") return { key: { id, keyPrefix, key }, outcome };
    }
    throw new Fault("internal", "Cannot create a key: no free key prefix was found; try again");
  };
  const additionBy = (owner: Owner): KeyAddition => ({
    ...limits,
    ...actBy(owner),
    accountId: owner.accountId,
    by: { keyId: owner.keyId, sessionId: owner.sessionId, passwordHash: owner.passwordHash },
  });
  const actBy = (owner: Owner): AuditStamp => ({ atMs: clock(), actor: actorOf(owner) });
  const refusalOf = (outcome: AdditionRefusal, { kind }: KeyOptions): KeyRefusal =>
    outcome === "revoked" ? { outcome } : {
      outcome: "key_limit_reached",
      limit: kind === "guest" ? limits.maxGuests : limits.maxActiveKeys,
    };

  return {
    issue,
    create: async (owner, { name, traits = plainTraits }) => {
      if (owner.traits !== undefined && !mayMake(owner.traits, traits)) {
        return { outcome: "beyond" };
      }
      const save = (key: Omit<NewKey, "name" | "traits">): ReturnType<KeyStore["addKey"]> =>
        store.addKey({ ...key, name, traits }, additionBy(owner));
      const { key, outcome } = await issue(partyOf(owner), save);
      return outcome === "added"
        ? { outcome: "created", key: { ...key, name, traits } }
        : refusalOf(outcome, traits);
    },
    rotate: async (owner, keyId, overlapMs) => {
      const may = (traits: KeyOptions): boolean =>
        owner.traits === undefined || owner.keyId === keyId || mayMake(owner.traits, traits);
      const save = (
        successor: Omit<NewKey, "name" | "traits">,
      ): ReturnType<KeyStore["rotateKey"]> =>
        store.rotateKey({ ...additionBy(owner), keyId, overlapMs, successor, mayMake: may });
      const { key, outcome } = await issue<
        StoredRotation | Exclude<Awaited<ReturnType<typeof save>>, object>
      >(
        partyOf(owner),
        save,
      );
      if (typeof outcome === "object") {
        const { oldExpiresAtMs, ...same } = outcome;
        return { outcome: "rotated", key: { ...key, ...same }, oldExpiresAtMs };
      }
      if (outcome === "not_found" || outcome === "conflict" || outcome === "beyond") {
        return { outcome };
      }
      return refusalOf(outcome, plainTraits);
    },
    list: (accountId) => store.listKeys(accountId, clock()),
    revoke: (owner, keyId) => store.revokeKey(owner.accountId, keyId, actBy(owner)),
  };
}

/** Returns the owner's party. The owner has shown a key, a session or its password. */
function partyOf({ accountId }: Owner): QueueParty {
  return { key: accountId, isKnown: true };
}

function randomKey({ environment, randomBytes }: KeysDeps): string {
  return encodeApiKey({
    environment,
    lookup: randomBase62(randomBytes, apiKeyLookupLength),
    secret: randomBase62(randomBytes, apiKeySecretLength),
  });
}

function randomBase62(randomBytes: RandomBytes, length: number): string {
  while (true) {
    // One byte in 32 is skipped, so twice the length is practically always enough.
    const text = encodeBase62(randomBytes(length * 2), length);
    if (text !== undefined) return text;
  }
}
