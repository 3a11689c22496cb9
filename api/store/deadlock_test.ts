/**
 * Nobody who changes accounts waits in a circle with others. The database would end one of them
 * after a second in which everybody who adds to the audit waits, so a circle shows as a failure, or
 * as a long time.
 */
import { assertEquals } from "@std/assert";
import type { AccountId } from "../../proto/mod.ts";
import { Secret } from "../../server/mod.ts";
import { postgresInstalled, startPostgres, testWhen } from "../../tests/support/mod.ts";
import type { Store } from "../domain/store.ts";
import { openStore } from "./mod.ts";
import { act, addAccount, atMs, codeFor, confirm, openSession } from "./testing/accounts.ts";

const rounds = 8;

/** The failures among everything that runs at once. */
async function together(work: readonly Promise<unknown>[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(work);
  return outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [String(outcome.reason.cause)] : []
  );
}

async function sessionsOf(store: Store, id: AccountId, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  for (const session of ids) await openSession(store, id, { id: session });
  return ids;
}

testWhen(
  postgresInstalled,
  "changes of accounts at once do not wait for each other in a circle",
  async (t) => {
    const server = await startPostgres();
    const url = new Secret(await server.createDatabase());
    const { store, close } = await openStore(
      { kind: "url", url, tls: "disable", ca: undefined },
      { maxConnections: 12, deadlineMs: 5_000 },
    );
    const later = { ...act, atMs: atMs + 1 };
    try {
      await t.step("all sessions and single ones are ended at once", async () => {
        for (let round = 0; round < rounds; round++) {
          const id = await addAccount(store);
          const sessions = await sessionsOf(store, id, 10);
          const single = sessions.map((session) =>
            store.endSession({ id: session, accountId: id }, later)
          );
          assertEquals(await together([store.endSessions(id, later), ...single]), []);
        }
      });

      await t.step("two accounts take each other's address at once", async () => {
        for (let round = 0; round < rounds; round++) {
          const [one, two] = [await addAccount(store), await addAccount(store)];
          await store.addCode(...codeFor(one, "change", 1, two));
          await store.addCode(...codeFor(two, "change", 2, one));
          assertEquals(await together([confirm(store, one, 1), confirm(store, two, 2)]), []);
        }
      });

      await t.step("an address is taken while sessions of its new account end", async () => {
        for (let round = 0; round < rounds; round++) {
          const [loser, winner] = [await addAccount(store), await addAccount(store)];
          const sessions = await sessionsOf(store, winner, 48);
          await store.addCode(...codeFor(winner, "change", 1, loser));
          // One after the other, so that some end in every moment of the change.
          const ends = [0, 1, 2, 3].map(async (first) => {
            for (let i = first; i < sessions.length; i += 4) {
              await store.endSession({ id: sessions[i] ?? "", accountId: winner }, later);
            }
          });
          assertEquals(await together([confirm(store, winner, 1), ...ends]), []);
        }
      });

      await t.step("plans are raised while accounts are suspended", async () => {
        for (let round = 0; round < rounds; round++) {
          const accounts: AccountId[] = [];
          for (let i = 0; i < 10; i++) accounts.push(await addAccount(store));
          const suspensions = accounts.map((id) => store.suspend(id, later));
          assertEquals(await together([store.movePlan("free", "team", later), ...suspensions]), []);
        }
      });
    } finally {
      await close();
      await server.close();
    }
  },
);
