/** API keys of an account: made, listed, revoked. The full key exists only in the answer to its creation. */
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
import { Fault } from "./fault.ts";
import type { Clock, Hasher, KeyRecord, KeyStore, NewId, NewKey, RandomBytes } from "./deps.ts";
import { Secret } from "../../server/secret.ts";

export const defaultKeyName = "default";

/** Two random lookups of 47 bits that collide three times in a row mean broken randomness, not bad luck. */
const maxPrefixAttempts = 3;

export interface IssuedKey {
  readonly id: KeyId;
  readonly keyPrefix: string;
  readonly name: string;
  readonly key: Secret;
}

export type KeyCreation =
  | { readonly outcome: "created"; readonly key: IssuedKey }
  | { readonly outcome: "key_limit_reached"; readonly limit: number }
  /** The key that asked for it was revoked after its request had been accepted. */
  | { readonly outcome: "revoked" };

export interface KeysDeps {
  readonly store: KeyStore;
  readonly hasher: Hasher;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly newId: NewId;
  readonly environment: ApiKeyEnvironment;
  readonly maxActiveKeys: number;
}

export interface Keys {
  /** `keyId` is the key that asks for it; there is none when it was a password. */
  create(owner: { readonly accountId: AccountId; readonly keyId?: KeyId }, name: string): Promise<KeyCreation>;
  list(accountId: AccountId): Promise<readonly KeyRecord[]>;
  revoke(accountId: AccountId, keyId: KeyId): Promise<boolean>;
  /** A fresh key, hashed in this client's turn and given to `save`, again with another one as long as `save` finds its prefix taken. */
  issue<Outcome>(
    order: { readonly name: string; readonly client: string },
    save: (key: NewKey) => Promise<Outcome | "prefix_taken">,
  ): Promise<{ key: IssuedKey; outcome: Outcome }>;
}

export function createKeys(deps: KeysDeps): Keys {
  const { store, hasher, clock } = deps;

  const issue: Keys["issue"] = async ({ name, client }, save) => {
    for (let attempt = 0; attempt < maxPrefixAttempts; attempt++) {
      const key = new Secret(randomKey(deps));
      const keyPrefix = parseApiKey(key.reveal())?.keyPrefix ?? "";
      const id = parseKeyId(deps.newId());
      const outcome = await save({
        id,
        keyPrefix,
        name,
        keyHash: await hasher.hash(key, client),
        createdAtMs: clock(),
      });
      if (outcome !== "prefix_taken") return { key: { id, keyPrefix, name, key }, outcome };
    }
    throw new Fault("internal", "Cannot create a key: no free key prefix was found; try again");
  };

  return {
    issue,
    create: async ({ accountId, keyId }, name) => {
      const options = { accountId, by: keyId, maxActiveKeys: deps.maxActiveKeys };
      const { key, outcome } = await issue({ name, client: accountId }, (key) => store.addKey(key, options));
      if (outcome === "revoked") return { outcome };
      return outcome === "added"
        ? { outcome: "created", key }
        : { outcome: "key_limit_reached", limit: deps.maxActiveKeys };
    },
    list: (accountId) => store.listKeys(accountId),
    revoke: (accountId, keyId) => store.revokeKey(accountId, keyId, clock()),
  };
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
