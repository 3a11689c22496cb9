/** Buckets in PostgreSQL: what one statement does, from several pools at once. */
import { assertEquals, assertLess } from "@std/assert";
import { Secret } from "../../server/mod.ts";
import { postgresInstalled, startPostgres, testWhen } from "../../tests/support/mod.ts";
import { connectDatabase } from "./database.ts";
import { createExpiryStore } from "./expiry.ts";
import { openStore } from "./mod.ts";
import { createRateStore } from "./rates.ts";

testWhen(postgresInstalled, "buckets in the database", async (t) => {
  await using opened = new AsyncDisposableStack();
  const server = await startPostgres();
  opened.defer(() => server.close());
  const databaseUrl = await server.createDatabase();
  const address = {
    kind: "url",
    url: new Secret(databaseUrl),
    tls: "disable",
    ca: undefined,
  } as const;
  const options = { maxConnections: 8, deadlineMs: 60_000 };
  // Its start makes the tables.
  await (await openStore(address, options)).close();
  const databases = [1, 2].map(() => {
    const database = connectDatabase(address, options);
    opened.defer(() => database.close());
    return database;
  });
  const [one, two] = databases.map(createRateStore);
  const [first] = databases;
  if (one === undefined || two === undefined || first === undefined) throw new Error("unreachable");
  const hour = { burst: 20, perSecond: 20 / 3600 };
  const { sql } = first;
  const count = async (): Promise<number> =>
    (await sql<{ n: number }[]>`SELECT count(*)::int AS n FROM rate_buckets`)[0]?.n ?? -1;

  await t.step("never more than the burst, from two pools at once", async () => {
    const takings = Array.from(
      { length: 200 },
      (_, index) =>
        (index % 2 === 0 ? one : two).takeRate({ key: "busy", rate: hour }, { kept: 0 }),
    );
    const taken = (await Promise.all(takings)).filter(({ isTaken }) => isTaken);
    assertEquals(taken.length, 20);
  });
  await t.step("a bucket and the one around it: both or neither", async () => {
    const wider = { key: "network", rate: { burst: 3, perSecond: 0.001 } };
    const take = (key: string): Promise<boolean> =>
      one.takeRate({ key, rate: hour }, { kept: 0, wider }).then(({ isTaken }) => isTaken);
    assertEquals(
      [await take("a"), await take("b"), await take("c"), await take("d"), await take("a")],
      [true, true, true, false, false],
    );
    assertLess(await one.lookRate({ key: "d", rate: hour }), 0.001);
    await two.giveBackRate("a", "network");
    assertEquals(await take("d"), true);
  });
  await t.step(
    "some are kept for others, and time brings back by the database's clock",
    async () => {
      const bucket = { key: "kept", rate: { burst: 4, perSecond: 0.001 } };
      const take = (kept: number): Promise<boolean> =>
        one.takeRate(bucket, { kept }).then(({ isTaken }) => isTaken);
      assertEquals([await take(2), await take(2), await take(2), await take(0)], [
        true,
        true,
        false,
        true,
      ]);
      await sql`UPDATE rate_buckets SET at = at - interval '3 hours' WHERE key = 'kept'`;
      assertEquals(await one.lookRate(bucket), 0);
      // A clock that was set back brings nothing back, and takes nothing away.
      await sql`UPDATE rate_buckets SET at = at + interval '9 hours', spent = 4 WHERE key = 'kept'`;
      assertEquals([await one.lookRate(bucket), await take(0)], [4, false]);
    },
  );
  await t.step("of too many the oldest go, and full ones by themselves", async () => {
    for (let index = 0; index < 60; index++) {
      await one.takeRate({ key: `flood ${index}`, rate: hour }, { kept: 0, most: 10 });
    }
    assertLess(await count(), 12);
    await sql`UPDATE rate_buckets SET until = now() - interval '1 second'`;
    await createExpiryStore(first).forgetExpired(Date.now());
    assertEquals(await count(), 0);
  });
});
