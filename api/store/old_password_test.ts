/**
 * A password is compared outside of the database, for seconds under load: what it opens is decided
 * when it is written.
 */
import { assertEquals } from "@std/assert";
import type { AccountId } from "../../proto/mod.ts";
import type { Store } from "../domain/store.ts";
import {
  act,
  addAccount,
  additionTo,
  atMs,
  codeFor,
  codeHash,
  confirm,
  newHash,
  newKey,
  oldHash,
  openSession,
  withStore,
} from "./testing/accounts.ts";

/** Outcomes of asking for a key and a session with this password. */
async function ask(
  store: Store,
  accountId: AccountId,
  passwordHash: string,
): Promise<[string, boolean]> {
  return [
    await store.addKey(newKey(), additionTo(accountId, { by: { passwordHash } })),
    await openSession(store, accountId, { passwordHash }) !== undefined,
  ];
}

const change = (store: Store, accountId: AccountId): ReturnType<Store["changePassword"]> =>
  store.changePassword({ accountId, oldHash, newHash, revokeKeys: true, ...act });

Deno.test("what an old password has opened", async (t) => {
  await withStore(async (store) => {
    await t.step(
      "a password that was changed while it was compared makes no key and no session",
      async () => {
        const id = await addAccount(store);
        assertEquals(await ask(store, id, oldHash), ["added", true]);
        await change(store, id);
        assertEquals(await ask(store, id, oldHash), ["revoked", false]);
        assertEquals((await store.listKeys(id, atMs)).length, 0);
        assertEquals(await ask(store, id, newHash), ["added", true]);
      },
    );

    await t.step(
      "an account that was suspended while its password was compared gets no key and no session",
      async () => {
        const id = await addAccount(store);
        await store.suspend(id, act);
        assertEquals(await ask(store, id, oldHash), ["revoked", false]);
      },
    );

    await t.step(
      "a change of address that the old password asked for ends with it, before and after",
      async () => {
        const id = await addAccount(store);
        const expected = { passwordHash: oldHash };
        assertEquals(await store.addCode(...codeFor(id, "change", 1), expected), "added");
        await change(store, id);
        assertEquals(await store.addCode(...codeFor(id, "change", 2), expected), "conflict");
        for (const byte of [1, 2]) assertEquals(await confirm(store, id, byte), "code_invalid");
        assertEquals((await store.readAccount(id, atMs))?.pendingEmail, null);
      },
    );

    await t.step(
      "a change of address that was asked for before a reset is void after it",
      async () => {
        const id = await addAccount(store);
        await store.addCode(...codeFor(id, "verify", 1, id));
        await confirm(store, id, 1);
        await store.addCode(...codeFor(id, "change", 2));
        await store.addCode(...codeFor(id, "reset", 3, id));
        await store.reset({
          emailKey: id,
          codeHash: codeHash(3),
          newHash,
          revokeKeys: false,
          ...act,
        });
        assertEquals(await confirm(store, id, 2), "code_invalid");
      },
    );
  });
});
