import { assert, assertEquals, assertRejects } from "@std/assert";
import { drafts } from "../../proto/mod.ts";
import { postgresInstalled, startPostgres, testWhen } from "../../tests/support/mod.ts";
import { StartFailed } from "../../server/mod.ts";
import { Fault } from "../domain/fault.ts";
import { Secret } from "../../server/mod.ts";
import {
  assertTls,
  connectDatabase,
  type DatabaseAddress,
  type PostgresDatabase,
} from "./database.ts";
import { migrate, readMigrations } from "./migrate.ts";

const plainText = (url: string): DatabaseAddress & { kind: "url" } => ({
  kind: "url",
  url: new Secret(url),
  tls: "disable",
  ca: undefined,
});

const table = `static_migrations_draft_${drafts.database}`;

type Guarantee = (connect: () => PostgresDatabase, url: string) => Promise<void>;

const guarantees: Record<string, Guarantee> = {
  "any number of processes may migrate at once: each migration is applied by exactly one": async (
    connect,
  ) => {
    const migrations = await readMigrations();
    const applied = await Promise.all(
      Array.from({ length: 8 }, () => migrate(connect(), migrations)),
    );
    assertEquals(applied.flat().sort(), migrations.map(({ name }) => name));
    assertEquals(applied.filter((names) => names.length > 0).length, 1);
  },

  "migrations are re-runnable, add to what is there, and a broken one changes nothing": async (
    connect,
  ) => {
    const database = connect();
    const migrations = await readMigrations();
    await migrate(database, migrations);
    assertEquals(await migrate(database, migrations), []);
    const broken = {
      version: 9998,
      name: "9998_broken.sql",
      text: "CREATE TABLE half (id int); SELECT x FROM nowhere",
    };
    await assertRejects(() => migrate(database, [...migrations, broken]), Error);
    const [half] = await database.sql`SELECT to_regclass('half') AS name`;
    assertEquals(half?.name, null);
    const next = {
      version: 9999,
      name: "9999_next.sql",
      text: "ALTER TABLE accounts ADD COLUMN of_this_test text",
    };
    assertEquals(await migrate(database, [...migrations, next]), [next.name]);
  },

  "a database is brought to the next level once, with what is in it": async (connect) => {
    const database = connect();
    const { sql } = database;
    const migrations = await readMigrations();
    const id = crypto.randomUUID();
    await migrate(database, migrations);
    await sql`
      INSERT INTO accounts (id, email, email_key, password_hash, created_at)
      VALUES (${id}, 'a@b.example', 'a@b.example', '$argon2id$x', now())`;
    const text =
      "ALTER TABLE accounts ADD COLUMN note text; UPDATE accounts SET note = email || ' of format 2'";
    const next = { version: migrations.length + 1, name: "notes.sql", text };
    assertEquals(await migrate(database, [...migrations, next]), [next.name]);
    assertEquals(await migrate(database, [...migrations, next]), []);
    const rows = await sql<{ id: string; note: string }[]>`SELECT id, note FROM accounts`;
    assertEquals([...rows], [{ id, note: "a@b.example of format 2" }]);
  },

  "a database of another draft is refused with one sentence, and not changed": async (connect) => {
    const database = connect();
    const { sql } = database;
    const tables = async (): Promise<string[]> =>
      [
        ...await sql<
          { name: string }[]
        >`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
      ]
        .map(({ name }) => name);
    for (const table of ["schema_migrations", "static_migrations_draft_0"]) {
      await sql`CREATE TABLE ${sql(table)} (version int PRIMARY KEY)`;
      const refused = await assertRejects(
        () => readMigrations().then((all) => migrate(database, all)),
        StartFailed,
      );
      assertEquals(
        refused.message,
        "Cannot open the database: it was made by a checkout before 0.1.0; this version cannot open it. " +
          "Set DATABASE_URL or STATIC_DATA_DIR to a new, empty one. Nothing was changed",
      );
      assertEquals(await tables(), [table]);
      await sql`DROP TABLE ${sql(table)}`;
    }
  },

  "a database that a newer API has migrated is refused by name, and not changed": async (
    connect,
  ) => {
    const database = connect();
    const migrations = await readMigrations();
    const next = {
      version: 9999,
      name: "9999_next.sql",
      text: "ALTER TABLE accounts ADD COLUMN of_this_test text",
    };
    await migrate(database, [...migrations, next]);
    const applied = (): Promise<readonly unknown[]> =>
      database.sql`SELECT * FROM ${database.sql(table)} ORDER BY version`;
    const before = await applied();
    await assertRejects(() => migrate(database, migrations), StartFailed, next.name);
    assertEquals([...await applied()], [...before]);
  },

  "a migration that was applied and has changed since is refused by name": async (connect) => {
    const database = connect();
    const [first, ...rest] = await readMigrations();
    if (first === undefined) throw new TypeError("no migrations");
    await migrate(database, [first, ...rest]);
    const changed = { ...first, text: `${first.text}\n-- changed` };
    await assertRejects(() => migrate(database, [changed, ...rest]), Error, first.name);
  },

  "what a database cannot do now is a fault to try again, a wrong statement is not": async (
    connect,
  ) => {
    const { sql, run } = connect();
    const raise = (code: string): Promise<unknown> =>
      run(sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`));
    // A standby after a failover, a deadlock, a serialization failure, a full disk, too many
    // connections.
    for (const code of ["25006", "40P01", "40001", "53100", "53300"]) {
      assertEquals((await assertRejects(() => raise(code), Fault)).code, "overloaded", code);
    }
    for (const code of ["23514", "42601"]) {
      assert(!(await assertRejects(() => raise(code), Error) instanceof Fault), code);
    }
  },

  "assertTls() refuses a connection that turned out to be plain text": async (connect, url) => {
    await assertTls(connect(), plainText(url));
    await assertRejects(
      () => assertTls(connect(), { ...plainText(url), tls: "require" }),
      Error,
      "not encrypted",
    );
  },
};

testWhen(postgresInstalled, "migrations on PostgreSQL", async (t) => {
  const server = await startPostgres();
  try {
    for (const [name, check] of Object.entries(guarantees)) {
      const url = await server.createDatabase();
      const databases: PostgresDatabase[] = [];
      const connect = (): PostgresDatabase => {
        const database = connectDatabase(plainText(url), { maxConnections: 2, deadlineMs: 15_000 });
        databases.push(database);
        return database;
      };
      await t.step(name, () => check(connect, url));
      await Promise.all(databases.map((database) => database.close()));
    }
  } finally {
    await server.close();
  }
});
