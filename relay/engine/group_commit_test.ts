/** A group of callers beside everything else that the event loop has to do. */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { GroupCommit, nextTurn } from "./group_commit.ts";
import { openSqliteEngine } from "./sqlite.ts";
import { appended, createChannel, message, readAll } from "./testing/sample.ts";

for (const kind of ["memory", "file"] as const) {
  Deno.test(`${kind}: others have turns while a large group is written and answered, and nobody reads what is not answered`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "static-engine-" });
    const engine = await openSqliteEngine({
      path: kind === "memory" ? ":memory:" : `${folder}/engine.sqlite`,
    });
    const channelId = await createChannel(engine, 1);
    const answered: number[] = [];
    const appending = Array.from({ length: 128 }, async (_, i) => {
      answered.push(appended(await engine.append(channelId, message(`m${i}`))).sequence);
    });
    const reading: Promise<void>[] = [];
    let turns = 0;
    while (answered.length < 128) {
      await nextTurn();
      turns++;
      if (answered.length === 0 || reading.length > 20) continue;
      reading.push(
        readAll(engine, channelId).then(({ length }) => assert(answered.length >= length)),
      );
    }
    await Promise.all([...appending, ...reading]);
    // Four transactions, and eight parts of the answers.
    assertGreater(turns, 8);
    assertEquals(answered, Array.from({ length: 128 }, (_, i) => i + 1));
    await engine.close();
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("a disk that does not confirm is measured from the moment that it was asked", async () => {
  const confirmed = Promise.withResolvers<void>();
  const ignore = (): void => {};
  const commits = new GroupCommit({
    begin: ignore,
    commit: () => true,
    rollback: ignore,
    sync: () => confirmed.promise,
    checkpoint: () => Promise.resolve(),
    isWhole: true,
  }, ignore);
  assertEquals(commits.diskMs, 0);
  const written = commits.write(() => "written");
  while (commits.diskMs === 0) await nextTurn();
  const before = commits.diskMs;
  while (commits.diskMs === before) await nextTurn();
  assertGreater(commits.diskMs, before);
  confirmed.resolve();
  assertEquals(await written, "written");
  await commits.close();
  assertEquals(commits.diskMs, 0);
});
