/** Promises of the relay's file when its format changes: forward, once, all or nothing, and never back. */
import { assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { EngineError } from "./errors.ts";
import { type Migrated, type Migration, migrations } from "./migrations.ts";
import { bytesPerChannel, bytesPerMember, bytesPerRecord } from "./log_bytes.ts";
import { openSqliteEngine } from "./sqlite.ts";
import { createChannel, message, readAll, sampleAccount, sampleAgent, sampleChannelId } from "./testing/sample.ts";

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

/** A file in the format of the first release, with a channel and an entry. */
function writeFirst(path: string): void {
  const sqlite = new DatabaseSync(path);
  const [first] = migrations;
  if (typeof first?.change !== "string") throw new TypeError("the first migration makes the tables");
  sqlite.exec(`BEGIN; ${first.change}; PRAGMA user_version = 1; COMMIT`);
  const id = sampleChannelId(1);
  sqlite.exec(`INSERT INTO channel (number, id, name, account, creator, nonce, time_ms, head)
    VALUES (1, '${id}', 'org/tests/channel-1', 'account', 'creator', x'01', 1, 1)`);
  sqlite.exec(`INSERT INTO entry (channel, sequence, kind, epoch, sender, time_ms, body)
    VALUES (1, 1, 'message', 0, '${sampleAgent(1)}', 1, x'0203')`);
  sqlite.close();
}

function ask(path: string, sql: string): unknown[] {
  const sqlite = new DatabaseSync(path);
  try {
    return sqlite.prepare(sql).all().flatMap((row) => Object.values(row));
  } finally {
    sqlite.close();
  }
}

async function open(path: string, list: readonly Migration[] = migrations): Promise<Migrated | undefined> {
  let migrated: Migrated | undefined;
  const engine = await openSqliteEngine({ path, migrations: list, onMigrated: (what) => migrated = what });
  await engine.close();
  return migrated;
}

Deno.test("a file of an older format is brought to the newest with what is in it, once, and it is told", () =>
  inFolder(async (path) => {
    writeFirst(path);
    const names = [...migrations.slice(1), noted, filled].map(({ name }) => name);
    const list = [...migrations, noted, filled];
    assertEquals(await open(path, list), { from: 1, to: list.length, names });
    assertEquals(await open(path, list), undefined);
    assertEquals(ask(path, "SELECT note FROM channel"), ["org/tests/channel-1"]);
    const engine = await openSqliteEngine({ path, migrations: list });
    const [entry] = await readAll(engine, sampleChannelId(1));
    await engine.close();
    assertEquals(entry, {
      kind: "message",
      sequence: 1,
      epoch: 0,
      sender: sampleAgent(1),
      timeMs: 1,
      bodyVersion: 1,
      body: Uint8Array.of(2, 3),
    });
  }));

Deno.test("what an older file holds is counted, its invites go with their channels, and nobody joins what is closed", () =>
  inFolder(async (path) => {
    writeFirst(path);
    const [id, gone] = [sampleChannelId(1), sampleChannelId(2)];
    const sqlite = new DatabaseSync(path);
    sqlite.exec(`
      UPDATE channel SET account = '${sampleAccount(1)}', creator = '${
      sampleAgent(1)
    }', messages = 1, message_bytes = 2, head = 2;
      INSERT INTO entry (channel, sequence, kind, epoch, sender, time_ms, body)
        VALUES (1, 2, 'commit', 0, '${sampleAgent(1)}', 1, zeroblob(100));
      INSERT INTO cursor (channel, agent, consumed, joining) VALUES (1, '${sampleAgent(2)}', 0, '${sampleAccount(1)}');
      INSERT INTO record (key, value, expires_at_ms)
        VALUES ('invite/${id}/x', zeroblob(50), 9), ('invite/${gone}/x', zeroblob(50), 9), ('plan/x', x'01', 9)`);
    sqlite.close();
    const engine = await openSqliteEngine({ path });
    const bytes = bytesPerChannel + 2 + 100 + bytesPerMember + bytesPerRecord + 50;
    assertEquals(await engine.accountBytes(sampleAccount(1)), bytes);
    assertEquals(await engine.records.get(`invite/${gone}/x`), undefined);
    assertEquals((await engine.records.get("plan/x"))?.value, Uint8Array.of(1));
    const query = { agentId: sampleAgent(2), account: sampleAccount(1), except: gone };
    assertEquals((await engine.joining(query)).channelsOfAccount, 0); // not listed
    await engine.append(id, message("end", { kind: "close", epoch: 0 }));
    await engine.purge(id);
    assertEquals(await engine.records.get(`invite/${id}/x`), undefined);
    assertEquals(await engine.accountBytes(sampleAccount(1)), 0);
    await engine.close();
  }));

Deno.test("a new file has the tables of one that has grown, and nothing is told of it", () =>
  inFolder(async (path) => {
    writeFirst(`${path}.old`);
    await open(`${path}.old`);
    assertEquals(await open(path), undefined);
    const tables = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    assertEquals(ask(path, tables), ask(`${path}.old`, tables));
    for (const pragma of ["PRAGMA user_version", "PRAGMA application_id"]) {
      assertEquals(ask(path, pragma), ask(`${path}.old`, pragma));
    }
  }));

Deno.test("a file of a newer format is refused with both numbers and what to do, and not changed", () =>
  inFolder(async (path) => {
    await open(path, [...migrations, noted]);
    const before = await Deno.readFile(path);
    const error = await assertRejects(() => open(path), EngineError, `format ${migrations.length + 1}`);
    assertEquals(error.code, "unsupported_version");
    assertEquals(error.message.includes(`up to ${migrations.length}. A newer relay wrote it: start that one`), true);
    assertEquals(await Deno.readFile(path), before);
  }));

Deno.test("a change that fails leaves the format before it, with all that was done before, and is repeated", () =>
  inFolder(async (path) => {
    writeFirst(path);
    const breaks: Migration = {
      name: "breaks",
      change: (sqlite) => {
        sqlite.exec("ALTER TABLE channel ADD COLUMN half TEXT");
        throw new Error("in the middle");
      },
    };
    const error = await assertRejects(() => open(path, [...migrations, noted, breaks]), EngineError, "(breaks)");
    assertEquals(error.code, "io");
    assertEquals(ask(path, "PRAGMA user_version"), [migrations.length + 1]);
    assertEquals(ask(path, "SELECT 1 FROM pragma_table_info('channel') WHERE name = 'half'"), []);
    const mended = { ...breaks, change: "ALTER TABLE channel ADD COLUMN half TEXT" };
    assertEquals((await open(path, [...migrations, noted, mended]))?.names, ["breaks"]);
  }));

Deno.test("an engine in memory has the newest format", async () => {
  const engine = await openSqliteEngine({ path: ":memory:", migrations: [...migrations, noted, filled] });
  await createChannel(engine, 1);
  await engine.append(sampleChannelId(1), message("a", { bodyVersion: 7 }));
  assertEquals((await readAll(engine, sampleChannelId(1))).map((item) => "bodyVersion" in item && item.bodyVersion), [
    7,
  ]);
  await engine.close();
});

Deno.test("in an older file the last entry that is neither message nor Welcome counts as the last change", () =>
  inFolder(async (path) => {
    writeFirst(path);
    const sqlite = new DatabaseSync(path);
    for (const [sequence, kind] of [[2, "commit"], [3, "leave"], [4, "welcome"], [5, "message"]]) {
      sqlite.exec(`INSERT INTO entry (channel, sequence, kind, epoch, sender, time_ms, body)
        VALUES (1, ${sequence}, '${kind}', 0, '${sampleAgent(1)}', 1, x'0203')`);
    }
    sqlite.close();
    await open(path);
    assertEquals(ask(path, "SELECT change_sequence FROM channel"), [3]);
  }));
