/** A copy of the engine's file that is made while work goes on. */
import { assertEquals, assertExists, assertGreater, assertRejects } from "@std/assert";
import { EngineError } from "./errors.ts";
import { copyKey, openSqliteEngine } from "./sqlite.ts";
import { appendAll, createChannel, message, readAll } from "./testing/sample.ts";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-backup-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a backup under load holds everything accepted before it, and the original goes on", async () => {
  await inFolder(async (folder) => {
    const engine = await openSqliteEngine({ path: `${folder}/relay.sqlite`, checkpointPages: 20 });
    const channelId = await createChannel(engine, 1);
    const body = new Uint8Array(3_000);
    const send = (from: number, count: number) =>
      appendAll(
        engine,
        channelId,
        Array.from({ length: count }, (_, i) => message(`m${from + i}`, { body })),
      );
    await send(0, 100);
    const sending = send(100, 300);
    await engine.backUp(`${folder}/copy.sqlite`, 1);
    await sending;
    await send(400, 100);
    // Another one takes the place of the first.
    await engine.backUp(`${folder}/second.sqlite`, 2);
    await engine.backUp(`${folder}/second.sqlite`, 3);
    assertEquals((await readAll(engine, channelId)).length, 500);
    await engine.close();
    assertEquals(((await Deno.stat(`${folder}/copy.sqlite`)).mode ?? 0) & 0o777, 0o600);
    const counts: number[] = [];
    for (const name of ["copy", "second", "relay"]) {
      const opened = await openSqliteEngine({ path: `${folder}/${name}.sqlite` });
      counts.push((await readAll(opened, channelId)).length);
      await opened.close();
    }
    assertGreater(counts[0] ?? 0, 99);
    assertEquals(counts.slice(1), [500, 500]);
  });
});

Deno.test("a copy is known as one although work was under way when it began, and another was asked for meanwhile", async () => {
  await inFolder(async (folder) => {
    const engine = await openSqliteEngine({ path: `${folder}/relay.sqlite` });
    const channelId = await createChannel(engine, 1);
    for (let round = 0; round < 5; round++) {
      const path = `${folder}/copy${round}.sqlite`;
      const sending = engine.append(channelId, message(`m${round}`));
      const copying = engine.backUp(path, 1);
      await assertRejects(() => engine.backUp(`${folder}/other.sqlite`, 1), EngineError, "already");
      await Promise.all([sending, copying]);
      const copy = await openSqliteEngine({ path });
      assertExists(await copy.records.get(copyKey), `copy ${round}`);
      await copy.close();
    }
    assertEquals(await engine.records.get(copyKey), undefined);
    await engine.close();
  });
});

Deno.test("a file that others may read is its owner's alone once it was opened, its log too", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/relay.sqlite`;
    await (await openSqliteEngine({ path })).close();
    await Deno.writeFile(`${path}-wal`, new Uint8Array(0), { mode: 0o644 });
    for (const file of [path, `${path}-wal`]) await Deno.chmod(file, 0o644);
    const engine = await openSqliteEngine({ path });
    const modes = [path, `${path}-wal`].map((file) => (Deno.statSync(file).mode ?? 0) & 0o777);
    await engine.close();
    assertEquals(modes, [0o600, 0o600]);
  });
});

Deno.test("a backup that cannot be written is an error, and the next one works", async () => {
  await inFolder(async (folder) => {
    const engine = await openSqliteEngine({ path: `${folder}/relay.sqlite` });
    const channelId = await createChannel(engine, 1);
    await assertRejects(
      () => engine.backUp(`${folder}/missing/copy.sqlite`, 1),
      EngineError,
      "missing/copy.sqlite",
    );
    await engine.append(channelId, message("m"));
    await engine.backUp(`${folder}/copy.sqlite`, 2);
    await engine.close();
  });
  const memory = await openSqliteEngine({ path: ":memory:" });
  await assertRejects(() => memory.backUp("/nowhere", 1), EngineError, "in memory");
  await memory.close();
});
