/**
 * Promises of the relay's file when its format changes: forward, once, all or nothing, and never
 * back.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { EngineError } from "./errors.ts";
import { type MigratedFile, type Migration, migrations } from "./migrations.ts";
import { applicationId } from "./schema.ts";
import { openSqliteEngine } from "./sqlite.ts";
import { createChannel, message, readAll, sampleChannelId } from "./testing/sample.ts";

const noted: Migration = { name: "notes", change: "ALTER TABLE channel ADD COLUMN note TEXT" };
const filled: Migration = {
  name: "notes are filled in",
  change: (sqlite) => void sqlite.prepare("UPDATE channel SET note = name").run(),
};

async function inFolder(test: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-engine-migrations-" });
  try {
    await test(`${folder}/relay.sqlite`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A file of format 1, with a channel and an entry. */
async function writeFirst(path: string): Promise<void> {
  const engine = await openSqliteEngine({ path });
  await engine.append(await createChannel(engine, 1), message("a"));
  await engine.close();
}

function ask(path: string, sql: string): unknown[] {
  const sqlite = new DatabaseSync(path);
  try {
    return sqlite.prepare(sql).all().flatMap((row) => Object.values(row));
  } finally {
    sqlite.close();
  }
}

async function open(
  path: string,
  list: readonly Migration[] = migrations,
): Promise<MigratedFile | undefined> {
  let migrated: MigratedFile | undefined;
  const engine = await openSqliteEngine({
    path,
    migrations: list,
    onMigrated: (what) => migrated = what,
  });
  await engine.close();
  return migrated;
}

Deno.test("a file of an older format is brought to the newest with what is in it, once, and it is told", () =>
  inFolder(async (path) => {
    await writeFirst(path);
    const list = [...migrations, noted, filled];
    const migrated = { from: migrations.length, to: list.length, names: [noted.name, filled.name] };
    assertEquals(await open(path, list), migrated);
    assertEquals(await open(path, list), undefined);
    assertEquals(ask(path, "SELECT note FROM channel"), ask(path, "SELECT name FROM channel"));
    const engine = await openSqliteEngine({ path, migrations: list });
    const { kind, epoch, sender, timeMs, bodyVersion, body } = message("a");
    assertEquals(await readAll(engine, sampleChannelId(1)), [
      { kind, sequence: 1, epoch, sender, timeMs, bodyVersion, body },
    ]);
    await engine.close();
  }));

Deno.test("a new file has the tables of one that has grown, and nothing is told of it", () =>
  inFolder(async (path) => {
    await writeFirst(`${path}.old`);
    await open(`${path}.old`, [...migrations, noted]);
    assertEquals(await open(path, [...migrations, noted]), undefined);
    const tables = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    assertEquals(ask(path, tables), ask(`${path}.old`, tables));
    for (const pragma of ["PRAGMA user_version", "PRAGMA application_id"]) {
      assertEquals(ask(path, pragma), ask(`${path}.old`, pragma));
    }
  }));

Deno.test("a file of another draft, or of no relay, is refused with what to do, and not changed", () =>
  inFolder(async (path) => {
    // Of checkouts without drafts, of another draft, and of another program.
    for (
      const [id, code] of [[0x53745265, "unsupported_version"], [
        applicationId + 1,
        "unsupported_version",
      ], [
        7,
        "corrupt",
      ]]
    ) {
      await writeFirst(path);
      ask(path, `PRAGMA application_id = ${id}`);
      const before = await Deno.readFile(path);
      const error = await assertRejects(() => open(path), EngineError);
      assertEquals([error.code, error.message], [
        code,
        code === "corrupt"
          ? `Cannot open ${path}: it is not a relay's database. Choose another file`
          : `Cannot open ${path}: it was made by a checkout before 0.1.0; this version cannot open it. ` +
            "Move it away: the relay then begins with a new one. Nothing was changed",
      ]);
      assertEquals(await Deno.readFile(path), before);
      await Deno.remove(path);
    }
  }));

Deno.test("a file of a newer format is refused with both numbers and what to do, and not changed", () =>
  inFolder(async (path) => {
    await open(path, [...migrations, noted]);
    const before = await Deno.readFile(path);
    const error = await assertRejects(
      () => open(path),
      EngineError,
      `format ${migrations.length + 1}`,
    );
    assertEquals(error.code, "unsupported_version");
    assertEquals(
      error.message.includes(`up to ${migrations.length}. A newer relay wrote it: start that one`),
      true,
    );
    assertEquals(await Deno.readFile(path), before);
  }));

Deno.test("a change that fails leaves the format before it, with all that was done before, and is repeated", () =>
  inFolder(async (path) => {
    await writeFirst(path);
    const breaks: Migration = {
      name: "breaks",
      change: (sqlite) => {
        sqlite.exec("ALTER TABLE channel ADD COLUMN half TEXT");
        throw new Error("in the middle");
      },
    };
    const error = await assertRejects(
      () => open(path, [...migrations, noted, breaks]),
      EngineError,
      "(breaks)",
    );
    assertEquals(error.code, "io");
    assertEquals(ask(path, "PRAGMA user_version"), [migrations.length + 1]);
    assertEquals(ask(path, "SELECT 1 FROM pragma_table_info('channel') WHERE name = 'half'"), []);
    const mended = { ...breaks, change: "ALTER TABLE channel ADD COLUMN half TEXT" };
    assertEquals((await open(path, [...migrations, noted, mended]))?.names, ["breaks"]);
  }));

Deno.test("an engine in memory has the newest format", async () => {
  const engine = await openSqliteEngine({
    path: ":memory:",
    migrations: [...migrations, noted, filled],
  });
  await createChannel(engine, 1);
  await engine.append(sampleChannelId(1), message("a", { bodyVersion: 7 }));
  assertEquals(
    (await readAll(engine, sampleChannelId(1))).map((item) =>
      "bodyVersion" in item && item.bodyVersion
    ),
    [
      7,
    ],
  );
  await engine.close();
});
