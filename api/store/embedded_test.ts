import { PGlite } from "@electric-sql/pglite";
import { dataDir as emptyDatabase } from "@electric-sql/pglite-prepopulatedfs";
import { assertEquals, assertGreater, assertMatch, assertRejects } from "@std/assert";
import { inCampaign } from "../../tests/support/campaign.ts";
import { openEmbedded } from "./embedded.ts";
import { unpack } from "./unpack.ts";

/**
 * Settings that differ between machines: the folder, and the time zone, which making a database
 * takes from the system.
 */
const ofTheMachine = "'data_directory', 'config_file', 'TimeZone', 'log_timezone'";

/** Everything in a new database that statements can depend on. */
const questions = {
  settings:
    `select name, setting from pg_settings where name not in (${ofTheMachine}) order by name`,
  databases:
    "select datname, encoding, datlocprovider, datcollate, datctype, datallowconn, datacl::text from pg_database",
  roles: "select oid, rolname, rolsuper, rolcanlogin from pg_authid order by oid",
  relations: "select oid, relname, relkind, relnatts, relacl::text from pg_class order by oid",
  functions:
    "select oid, proname, prosrc, proargtypes::text, proacl::text from pg_proc order by oid",
  types: "select oid, typname, typlen, typinput::text, typcollation from pg_type order by oid",
  operators: "select oid, oprname, oprleft, oprright, oprcode::text from pg_operator order by oid",
  casts: "select castsource, casttarget, castfunc, castcontext from pg_cast order by 1, 2",
  collations:
    "select oid, collname, collprovider, collcollate, colllocale from pg_collation order by oid",
  views:
    "select viewname, definition from pg_views where schemaname in ('pg_catalog', 'information_schema') order by 1",
};

async function describe(database: PGlite): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const [name, question] of Object.entries(questions)) {
    const { rows } = await database.query(question);
    assertGreater(rows.length, 0, name);
    answers[name] = rows.map((row) => JSON.stringify(row)).join("\n");
  }
  return answers;
}

Deno.test("the empty database that comes with the packages opens, with times of UTC", async () => {
  await using unpacked = await unpackDatabase();
  // Whatever the machine's zone is.
  const { rows } = await unpacked.database.query(
    "select extract(timezone from now())::int as seconds",
  );
  assertEquals(rows, [{ seconds: 0 }]);
});

// Making one takes long, and what it is compared with changes only with the packages.
if (inCampaign) {
  Deno.test("the empty database that comes with the packages is the one that the pinned version makes", async () => {
    await using unpacked = await unpackDatabase();
    const answers = await describe(unpacked.database);
    const made = await PGlite.create();
    for (const [name, answer] of Object.entries(await describe(made))) {
      assertEquals(answers[name], answer, name);
    }
    await made.close();
  });
}

async function unpackDatabase(): Promise<{ readonly database: PGlite } & AsyncDisposable> {
  const folder = await Deno.makeTempDir({ prefix: "static-unpacked-" });
  await unpack(await emptyDatabase(), folder);
  const database = await PGlite.create({ dataDir: folder });
  return {
    database,
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("a database whose thread dies after it was opened says so", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "static-dead-" });
  const thread = `onmessage = ({ data }) => {
    Deno.writeTextFileSync(data.socket, "");
    postMessage({ kind: "ready" });
    setTimeout(() => { throw new Error("out of memory"); }, 0);
  };`;
  const start = (): Worker =>
    new Worker(`data:text/javascript,${encodeURIComponent(thread)}`, { type: "module" });
  const embedded = await openEmbedded(dataDir, start);
  assertMatch(
    (await embedded?.failed)?.message ?? "",
    /^The embedded database has failed: .*out of memory/,
  );
  await assertRejects(async () => await embedded?.close(), Error, "out of memory");
  await Deno.remove(dataDir, { recursive: true });
});
