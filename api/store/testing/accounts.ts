/**
 * Accounts, keys, sessions and codes straight in a store, for tests of what the database decides.
 */
import { type AccountId, parseAccountId, parseKeyId } from "../../../proto/mod.ts";
import { embedded } from "../../../tests/support/api/harness.ts";
import type { CodePurpose, NewCode, QueuedMessage } from "../../domain/account_store.ts";
import type { KeyAddition, NewKey } from "../../domain/deps.ts";
import { plainTraits } from "../../domain/key_permissions.ts";
import type { Store } from "../../domain/store.ts";
import { openEmbeddedStore } from "../mod.ts";

export const atMs = Date.UTC(2026, 10);
export const act = { atMs, actor: "password" } as const;
export const [oldHash, newHash] = ["$argon2id$old", "$argon2id$new"];
export const codeHash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
/** The letter to an address that an account had. */
export const notice = {
  id: crypto.randomUUID(),
  subject: "",
  body: "",
  atMs,
  expiresAtMs: atMs + 60_000,
};

/** An embedded store. */
export async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  const { environment, close: removeFiles } = await embedded.open();
  const { store, close } = await openEmbeddedStore(environment["STATIC_DATA_DIR"] ?? "", 10_000);
  try {
    await work(store);
  } finally {
    await close();
    await removeFiles();
  }
}

/** An account whose address's key is its id. */
export async function addAccount(store: Store): Promise<AccountId> {
  const id = parseAccountId(crypto.randomUUID());
  await store.createAccount(
    {
      id,
      email: `${id}@example.com`,
      emailKey: id,
      passwordHash: oldHash,
      plan: "free",
      createdAtMs: atMs,
    },
    newKey(),
  );
  return id;
}

export function newKey(changes: Partial<NewKey> = {}): NewKey {
  const id = parseKeyId(crypto.randomUUID());
  const key = {
    id,
    keyPrefix: id,
    name: "default",
    keyHash: oldHash,
    createdAtMs: atMs,
    traits: plainTraits,
  };
  return { ...key, ...changes };
}

export function additionTo(accountId: AccountId, changes: Partial<KeyAddition> = {}): KeyAddition {
  return {
    accountId,
    by: { passwordHash: oldHash },
    maxActiveKeys: 9,
    maxGuests: 9,
    ...act,
    ...changes,
  };
}

/** Returns its secret's hash, or undefined when it was not opened. */
export async function openSession(
  store: Store,
  accountId: AccountId,
  { passwordHash = oldHash, openedAtMs = atMs, id = crypto.randomUUID() as string } = {},
): Promise<Uint8Array | undefined> {
  const secretHash = crypto.getRandomValues(new Uint8Array(32));
  const times = { atMs: openedAtMs, expiresAtMs: openedAtMs + 3_600_000 };
  const session = { id, accountId, passwordHash, secretHash, actor: "password", ...times };
  return await store.openSession(session) ? secretHash : undefined;
}

/** A code of 32 equal bytes, sent to the address with this key. */
export function codeFor(
  accountId: AccountId,
  purpose: CodePurpose,
  byte: number,
  emailKey = "new",
): [NewCode, QueuedMessage] {
  const about = { accountId, expiresAtMs: atMs + 60_000 };
  const email = `${emailKey}@example.com`;
  return [
    { id: crypto.randomUUID(), purpose, email, emailKey, codeHash: codeHash(byte), ...about },
    { id: crypto.randomUUID(), recipient: email, subject: "", body: "", atMs, ...about },
  ];
}

export function confirm(
  store: Store,
  accountId: AccountId,
  byte: number,
): ReturnType<Store["confirmAddress"]> {
  const letter = { ...notice, id: crypto.randomUUID() };
  return store.confirmAddress({
    accountId,
    codeHash: codeHash(byte),
    revokeKeys: false,
    notice: letter,
    ...act,
  });
}
