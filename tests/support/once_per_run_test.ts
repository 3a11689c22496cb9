import { assertEquals, assertRejects } from "@std/assert";
import postgres from "postgres";
import { makeRunFolder, removeRunFolder } from "../../tools/run_folder.ts";
import { oncePerRun, openSharedDatabase, postgresInstalled, testWhen } from "./mod.ts";

/** As the test command does around all its suites, of which this may be one. */
async function inRun(work: () => Promise<void>): Promise<void> {
  const outer = Deno.env.get("STATIC_TEST_RUN");
  const folder = await makeRunFolder();
  try {
    await work();
  } finally {
    await removeRunFolder(folder);
    if (outer === undefined) Deno.env.delete("STATIC_TEST_RUN");
    else Deno.env.set("STATIC_TEST_RUN", outer);
  }
}

Deno.test("what a run shares is made by the first to ask; one that failed leaves it to the next", async () => {
  await inRun(async () => {
    const made: string[] = [];
    const make = (text: string) => async (path: string): Promise<void> => {
      made.push(text);
      await Deno.writeTextFile(path, text);
      if (text === "broken") throw new Error(text);
    };
    await assertRejects(() => oncePerRun("thing", make("broken")), Error, "broken");
    const paths = await Promise.all(["a", "b", "c"].map((text) => oncePerRun("thing", make(text))));
    assertEquals(new Set(paths).size, 1);
    assertEquals(made.length, 2);
    assertEquals(await Deno.readTextFile(paths[0] ?? ""), made[1]);
  });
});

testWhen(
  postgresInstalled,
  "databases of a run are copies on one server, which ends with the run",
  async () => {
    const urls: string[] = [];
    await inRun(async () => {
      const open = (): ReturnType<typeof openSharedDatabase> =>
        openSharedDatabase(async (url) => {
          urls.push(url);
          await query(url, "CREATE TABLE things AS SELECT 1 AS n");
        });
      const [first, second] = await Promise.all([open(), open()]);
      if (first === undefined || second === undefined) throw new TypeError("there is no run");
      await query(first.url, "INSERT INTO things VALUES (2)");
      assertEquals((await query(first.url, "TABLE things")).length, 2);
      assertEquals([...await query(second.url, "TABLE things")], [{ n: 1 }]);
      assertEquals(urls.length, 1);
      await first.close();
      await assertRejects(() => query(first.url, "TABLE things"), Error, "does not exist");
      await second.close();
    });
    await assertRejects(() => query(urls[0] ?? "", "TABLE things"), Error, "ECONNREFUSED");
  },
);

async function query(url: string, text: string): Promise<postgres.RowList<postgres.Row[]>> {
  const sql = postgres(url, { max: 1 });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end();
  }
}
