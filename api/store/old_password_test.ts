/** A password is compared outside of the database, for seconds under load: what it opens is decided when it is written. */
import { assertEquals } from "@std/assert";
import { type AccountId, parseAccountId, parseKeyId } from "../../proto/mod.ts";
import type { CodePurpose, NewCode, QueuedMessage } from "../domain/account_store.ts";
import type { KeyAddition, NewKey } from "../domain/deps.ts";
import { plainTraits } from "../domain/powers.ts";
import type { Store } from "../domain/store.ts";
import { openEmbeddedStore } from "./mod.ts";

const atMs = Date.UTC(2026, 10);
const [oldHash, newHash] = ["$argon2id$old", "$argon2id$new"];
const act = { atMs, actor: "password" } as const;
const codeHash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

async function withStore(work: (store: Store, id: AccountId) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir();
  const { store, close } = await openEmbeddedStore(dataDir, 10_000);
  try {
    const id = parseAccountId(crypto.randomUUID());
    await store.createAccount(
      { id, email: `${id}@example.com`, emailKey: id, passwordHash: oldHash, plan: "free", createdAtMs: atMs },
      newKey(),
    );
    await work(store, id);
  } finally {
    await close();
    await Deno.remove(dataDir, { recursive: true });
  }
}

function newKey(): NewKey {
  const id = parseKeyId(crypto.randomUUID());
  return { id, keyPrefix: id, name: "default", keyHash: oldHash, createdAtMs: atMs, traits: plainTraits };
}

const addKey = (store: Store, accountId: AccountId, passwordHash: string): ReturnType<Store["addKey"]> => {
  const addition: KeyAddition = { accountId, by: { passwordHash }, maxActiveKeys: 9, maxGuests: 9, ...act };
  return store.addKey(newKey(), addition);
};

const openSession = (store: Store, accountId: AccountId, passwordHash: string): Promise<boolean> => {
  const secretHash = crypto.getRandomValues(new Uint8Array(32));
  return store.openSession({
    id: crypto.randomUUID(),
    accountId,
    passwordHash,
    secretHash,
    expiresAtMs: atMs + 1,
    ...act,
  });
};

function codeFor(accountId: AccountId, purpose: CodePurpose, byte: number): [NewCode, QueuedMessage] {
  const about = { accountId, expiresAtMs: atMs + 60_000 };
  return [
    { id: crypto.randomUUID(), purpose, email: "new@example.com", emailKey: "new", codeHash: codeHash(byte), ...about },
    { id: crypto.randomUUID(), recipient: "new@example.com", subject: "", body: "", atMs, ...about },
  ];
}

const change = (store: Store, accountId: AccountId): ReturnType<Store["changePassword"]> =>
  store.changePassword({ accountId, oldHash, newHash, revokeKeys: true, ...act });

Deno.test("a password that was changed while it was compared makes no key and no session", async () => {
  await withStore(async (store, id) => {
    assertEquals([await addKey(store, id, oldHash), await openSession(store, id, oldHash)], ["added", true]);
    await change(store, id);
    assertEquals([await addKey(store, id, oldHash), await openSession(store, id, oldHash)], ["revoked", false]);
    assertEquals((await store.listKeys(id, atMs)).length, 0);
    assertEquals([await addKey(store, id, newHash), await openSession(store, id, newHash)], ["added", true]);
  });
});

Deno.test("an account that was suspended while its password was compared gets no key and no session", async () => {
  await withStore(async (store, id) => {
    await store.suspend(id, act);
    assertEquals([await addKey(store, id, oldHash), await openSession(store, id, oldHash)], ["revoked", false]);
  });
});

Deno.test("a change of address that the old password asked for ends with it, before and after", async () => {
  await withStore(async (store, id) => {
    const expected = { passwordHash: oldHash };
    assertEquals(await store.addCode(...codeFor(id, "change", 1), expected), "added");
    await change(store, id);
    assertEquals(await store.addCode(...codeFor(id, "change", 2), expected), "conflict");
    for (const byte of [1, 2]) {
      assertEquals(await store.confirmAddress({ accountId: id, codeHash: codeHash(byte), ...act }), "code_invalid");
    }
    assertEquals((await store.readAccount(id, atMs))?.pendingEmail, null);
  });
});

Deno.test("a change of address that was asked for before a reset is void after it", async () => {
  await withStore(async (store, id) => {
    const [code, message] = codeFor(id, "verify", 1);
    await store.addCode({ ...code, emailKey: id }, message);
    await store.confirmAddress({ accountId: id, codeHash: codeHash(1), ...act });
    await store.addCode(...codeFor(id, "change", 2));
    const [reset, letter] = codeFor(id, "reset", 3);
    await store.addCode({ ...reset, emailKey: id }, letter);
    await store.reset({ emailKey: id, codeHash: codeHash(3), newHash, revokeKeys: false, ...act });
    assertEquals(await store.confirmAddress({ accountId: id, codeHash: codeHash(2), ...act }), "code_invalid");
  });
});
