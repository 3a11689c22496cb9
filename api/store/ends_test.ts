/** Bounds and ends of what an account has, as the database keeps them. */
import { assertEquals } from "@std/assert";
import type { AccountId, KeyId } from "../../proto/mod.ts";
import { plainTraits } from "../domain/key_permissions.ts";
import type { Store } from "../domain/store.ts";
import { maxSessions } from "./sessions.ts";
import {
  act,
  addAccount,
  additionTo,
  atMs,
  codeFor,
  confirm,
  newKey,
  openSession,
  withStore,
} from "./testing/accounts.ts";

const rotate = async (
  store: Store,
  accountId: AccountId,
  keyId: KeyId,
  { overlapMs = 0, maxActiveKeys = 9 } = {},
): Promise<string> => {
  const { name: _name, traits: _traits, ...successor } = newKey();
  const addition = additionTo(accountId, { maxActiveKeys });
  const outcome = await store.rotateKey({
    ...addition,
    keyId,
    overlapMs,
    successor,
    mayMake: () => true,
  });
  return typeof outcome === "string" ? outcome : "rotated";
};

Deno.test("bounds and ends of what an account has", async (t) => {
  await withStore(async (store) => {
    const id = await addAccount(store);
    await t.step(`an account has ${maxSessions} sessions, the oldest makes room`, async () => {
      const secrets: Uint8Array[] = [];
      for (let i = 0; i <= maxSessions; i++) {
        secrets.push(await openSession(store, id, { openedAtMs: atMs + i }) ?? new Uint8Array());
      }
      const open: boolean[] = [];
      for (const secret of secrets) {
        open.push(await store.findSession(secret, atMs + 1000) !== undefined);
      }
      assertEquals(open, [false, ...Array(maxSessions).fill(true)]);
    });

    await t.step("all sessions end with one event", async () => {
      const before = (await store.readAuditHead()).seq;
      assertEquals(await store.endSessions(id, { ...act, atMs: atMs + 1000 }), maxSessions);
      assertEquals((await store.readAudit(before, 9)).map(({ event }) => event), [
        "account.sessions_ended",
      ]);
      assertEquals(await store.endSessions(id, act), 0);
      assertEquals((await store.readAuditHead()).seq, before + 1);
    });

    await t.step("a key is rotated at the limit if the old one ends at once", async () => {
      const [key] = await store.listKeys(id, atMs);
      if (key === undefined) throw new Error("an account has a key");
      assertEquals(
        await rotate(store, id, key.id, { overlapMs: 1, maxActiveKeys: 1 }),
        "limit_reached",
      );
      assertEquals(await rotate(store, id, key.id, { maxActiveKeys: 1 }), "rotated");
      assertEquals((await store.listKeys(id, atMs)).length, 1);
    });

    await t.step(
      "a key that has expired is revoked by its own time, and only that one",
      async () => {
        const traits = { ...plainTraits, expiresAtMs: atMs + 10 };
        const [ending, staying] = [newKey({ traits }), newKey()];
        for (const key of [ending, staying]) await store.addKey(key, additionTo(id));
        await store.forgetExpired(atMs + 9);
        const revokedAt = async (): Promise<(number | null | undefined)[]> =>
          (await Promise.all(
            [ending, staying].map(({ keyPrefix }) => store.findKeys(keyPrefix, 2)),
          ))
            .map(([key]) => key?.revokedAtMs);
        assertEquals(await revokedAt(), [null, null]);
        await store.forgetExpired(atMs + 10);
        assertEquals(await revokedAt(), [atMs + 10, null]);
      },
    );

    await t.step("of two changes of address that read the same version one is told", async () => {
      const version = (await store.readAccount(id, atMs))?.version;
      assertEquals(await store.addCode(...codeFor(id, "change", 1, "one"), { version }), "added");
      assertEquals(
        await store.addCode(...codeFor(id, "change", 2, "two"), { version }),
        "conflict",
      );
      assertEquals((await store.readAccount(id, atMs))?.version, (version ?? 0) + 1);
    });

    await t.step(
      "a verified address that is left is written to, an unverified one is not",
      async () => {
        const other = await addAccount(store);
        const letters = async (): Promise<string[]> =>
          (await store.takeDue({ atMs: atMs + 1, limit: 100, hiddenMs: 0 })).map(({ recipient }) =>
            recipient
          );
        await store.addCode(...codeFor(other, "change", 5, "first"));
        assertEquals(await confirm(store, other, 5), "confirmed");
        assertEquals((await letters()).includes(`${other}@example.com`), false);
        await store.addCode(...codeFor(other, "change", 6, "second"));
        assertEquals(await confirm(store, other, 6), "confirmed");
        assertEquals(
          (await letters()).filter((recipient) => recipient === "first@example.com").length,
          2,
        );
      },
    );

    await t.step("plans are raised for all but those that an operator has set", async () => {
      const [set, unset] = [await addAccount(store), await addAccount(store)];
      await store.setPlan(set, "free", act);
      await store.movePlan("free", "team", act);
      const plans = (await Promise.all([set, unset].map((each) => store.readAccount(each, atMs))))
        .map((account) => account?.plan);
      assertEquals(plans, ["free", "team"]);
    });

    await t.step(
      "an account that was deleted meanwhile gets neither plan nor limit, nor an event",
      async () => {
        const gone = await addAccount(store);
        await store.deleteAccount({ accountId: gone, ...act });
        const before = (await store.readAuditHead()).seq;
        assertEquals(await store.setPlan(gone, "team", act), "unknown_account");
        assertEquals(await store.setAccountLimit(gone, 5, act), false);
        assertEquals((await store.readAuditHead()).seq, before);
      },
    );
  });
});
