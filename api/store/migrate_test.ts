import { assertEquals, assertRejects } from "@std/assert";
import { postgresInstalled, startPostgres, testWhen } from "../../tests/support/mod.ts";
import { Secret } from "../domain/secret.ts";
import { assertTls, connectDatabase, type Database } from "./database.ts";
import { migrate, readMigrations } from "./migrate.ts";

const options = { maxConnections: 2, deadlineMs: 1500 };

async function withDatabases(count: number, use: (databases: Database[], url: string) => Promise<void>): Promise<void> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const address = { kind: "url", url: new Secret(url), tls: "disable", ca: undefined } as const;
  const databases = Array.from({ length: count }, () => connectDatabase(address, options));
  try {
    await use(databases, url);
  } finally {
    await Promise.all(databases.map((database) => database.close()));
    await server.close();
  }
}

testWhen(
  postgresInstalled,
  "any number of processes may migrate at once: each migration is applied by exactly one",
  async () => {
    await withDatabases(8, async (databases) => {
      const migrations = await readMigrations();
      const applied = await Promise.all(databases.map((database) => migrate(database, migrations)));
      assertEquals(applied.flat().sort(), migrations.map(({ name }) => name));
      assertEquals(applied.filter((names) => names.length > 0).length, 1);
    });
  },
);

testWhen(
  postgresInstalled,
  "migrations are re-runnable, add to what is there, and a broken one changes nothing",
  async () => {
    await withDatabases(1, async ([database]) => {
      if (database === undefined) throw new TypeError();
      const migrations = await readMigrations();
      await migrate(database, migrations);
      assertEquals(await migrate(database, migrations), []);
      const broken = {
        version: 9998,
        name: "9998_broken.sql",
        text: "CREATE TABLE half (id int); SELECT nothing FROM nowhere",
      };
      await assertRejects(() => migrate(database, [...migrations, broken]), Error);
      const [half] = await database.sql`SELECT to_regclass('half') AS name`;
      assertEquals(half?.name, null);
      const next = { version: 9999, name: "9999_next.sql", text: "ALTER TABLE accounts ADD COLUMN note text" };
      assertEquals(await migrate(database, [...migrations, next]), [next.name]);
    });
  },
);

testWhen(postgresInstalled, "a migration that was applied and has changed since is refused by name", async () => {
  await withDatabases(1, async ([database]) => {
    if (database === undefined) throw new TypeError();
    const [first, ...rest] = await readMigrations();
    if (first === undefined) throw new TypeError();
    await migrate(database, [first, ...rest]);
    const changed = { ...first, text: `${first.text}\n-- changed` };
    await assertRejects(() => migrate(database, [changed, ...rest]), Error, first.name);
  });
});

testWhen(postgresInstalled, "assertTls() refuses a connection that turned out to be plain text", async () => {
  await withDatabases(1, async ([database], url) => {
    if (database === undefined) throw new TypeError();
    await assertTls(database, { kind: "url", url: new Secret(url), tls: "disable", ca: undefined });
    const required = { kind: "url", url: new Secret(url), tls: "require", ca: undefined } as const;
    await assertRejects(() => assertTls(database, required), Error, "not encrypted");
  });
});
