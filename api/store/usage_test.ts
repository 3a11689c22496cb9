import { assertEquals } from "@std/assert";
import { type AccountId, parseAccountId, parseKeyId } from "../../proto/mod.ts";
import { postgresInstalled, startPostgres, testWhen } from "../../tests/support/mod.ts";
import type { LeaseRecord, LeaseReport } from "../domain/deps.ts";
import type { Store } from "../domain/store.ts";
import { Secret } from "../../server/mod.ts";
import { createUsage } from "../domain/usage.ts";
import { openStore } from "./mod.ts";

const hash = "$argon2id$test";
const [october, november] = [Date.UTC(2026, 9), Date.UTC(2026, 10)];
const dayMs = 86_400_000;

async function createAccount(store: Store): Promise<AccountId> {
  const id = parseAccountId(crypto.randomUUID());
  await store.createAccount(
    {
      id,
      email: `${id}@example.com`,
      emailKey: id,
      passwordHash: hash,
      plan: "free",
      createdAtMs: october,
    },
    {
      id: parseKeyId(crypto.randomUUID()),
      keyPrefix: id,
      name: "default",
      keyHash: hash,
      createdAtMs: october,
    },
  );
  return id;
}

async function takeLease(
  store: Store,
  { accountId, relayId, periodStartMs }: {
    accountId: AccountId;
    relayId: string;
    periodStartMs: number;
  },
): Promise<LeaseRecord> {
  const lease = await store.grantLease({
    nonce: crypto.randomUUID(),
    id: crypto.randomUUID(),
    relayId,
    accountId,
    wanted: 100,
    grantedAtMs: periodStartMs,
    expiresAtMs: periodStartMs + 300_000,
    periodStartMs,
  });
  if (typeof lease === "string") throw new Error(lease);
  return lease;
}

const reportOf = ({ id, fence }: LeaseRecord, consumed: number, close = false): LeaseReport => ({
  leaseId: id,
  fence,
  consumed,
  bytes: { payload: consumed, padding: 0, cover: 0 },
  close,
});

/** A database at some distance: what passes here in either direction arrives `delayMs` later. */
function listenAtDistance(port: number, delayMs: number): { port: number; close(): void } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open: Deno.Conn[] = [];
  const carry = async (from: Deno.Conn, to: Deno.Conn): Promise<void> => {
    for await (const chunk of from.readable) {
      // wait: the distance itself
      setTimeout(() => to.write(chunk).catch(() => {}), delayMs);
    }
  };
  const accept = async (): Promise<void> => {
    for await (const near of listener) {
      const far = await Deno.connect({ hostname: "127.0.0.1", port });
      open.push(near, far);
      Promise.all([carry(near, far), carry(far, near)]).catch(() => {});
    }
  };
  accept().catch(() => {});
  return {
    port: listener.addr.port,
    close: () => {
      listener.close();
      for (const connection of open) {
        try {
          connection.close();
        } catch {
          // Closed by its other end.
        }
      }
    },
  };
}

testWhen(postgresInstalled, "usage and leases on PostgreSQL", async (t) => {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const open = (address: string): ReturnType<typeof openStore> =>
    openStore(
      { kind: "url", url: new Secret(address), tls: "disable", ca: undefined },
      { maxConnections: 4, deadlineMs: 1500 },
    );
  const { store, close } = await open(url);
  try {
    await t.step(
      "two relays that report the same months in opposite order never wait in a circle",
      async () => {
        const accountId = await createAccount(store);
        const lease = (relayId: string, periodStartMs: number): Promise<LeaseRecord> =>
          takeLease(store, { accountId, relayId, periodStartMs });
        const [a, b] = [
          [await lease("a", october), await lease("a", november)],
          [await lease("b", november), await lease("b", october)],
        ];
        for (let consumed = 1; consumed <= 100; consumed++) {
          const outcomes = await Promise.all([
            store.reportLeases("a", a.map((lease) => reportOf(lease, consumed)), november),
            store.reportLeases("b", b.map((lease) => reportOf(lease, consumed)), november),
          ]);
          assertEquals(outcomes.flat(), Array(4).fill("accepted"));
        }
        const { used, bytes } = await store.readUsage(accountId, {
          startMs: october,
          endMs: november,
        }, october);
        assertEquals([used, bytes.payload], [200, 200]);
      },
    );

    await t.step(
      "a full batch of reports is taken by a database ten milliseconds away, within the deadline",
      async () => {
        const accounts = await Promise.all(Array.from({ length: 50 }, () => createAccount(store)));
        const leases = await Promise.all(
          [...accounts, ...accounts].map((accountId) =>
            takeLease(store, { accountId, relayId: "far", periodStartMs: november })
          ),
        );
        const distance = listenAtDistance(Number(new URL(url).port), 10);
        const far = await open(url.replace(/:\d+\//, `:${distance.port}/`));
        try {
          const outcomes = await far.store.reportLeases(
            "far",
            leases.map((lease) => reportOf(lease, 7, true)),
            november,
          );
          assertEquals(outcomes, Array(100).fill("accepted"));
        } finally {
          await far.close();
          distance.close();
        }
        for (const accountId of accounts) {
          const { used } = await store.readUsage(
            accountId,
            { startMs: november, endMs: november + 30 * dayMs },
            november,
          );
          assertEquals(used, 14);
        }
      },
    );

    await t.step(
      "leases closed for more than a day are forgotten, and nothing that was counted with them",
      async () => {
        const accountId = await createAccount(store);
        const usage = createUsage({
          store,
          clock: () => november + dayMs + 1,
          newId: () => crypto.randomUUID(),
        });
        const [old, recent, crashed] = [
          await takeLease(store, { accountId, relayId: "tidy", periodStartMs: november }),
          await takeLease(store, { accountId, relayId: "tidy", periodStartMs: november }),
          await takeLease(store, { accountId, relayId: "tidy", periodStartMs: november }),
        ];
        await store.reportLeases("tidy", [reportOf(old, 3, true)], november);
        await store.reportLeases("tidy", [reportOf(recent, 4, true)], november + 2);
        const before = await usage.read(accountId);
        await usage.forgetClosed();
        assertEquals(await usage.read(accountId), before);
        assertEquals(before.used, 107);
        const again = [
          reportOf(old, 3, true),
          reportOf(recent, 4, true),
          reportOf(crashed, 5, true),
        ];
        assertEquals(await usage.report("tidy", again), ["unknown", "accepted", "accepted"]);
        assertEquals((await usage.read(accountId)).used, 12);
      },
    );
  } finally {
    await close();
    await server.close();
  }
});
