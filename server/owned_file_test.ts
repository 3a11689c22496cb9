import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { readIfPresent, readOrCreateOwned, writeOwned } from "./owned_file.ts";
import { loadRelaySecret } from "./relay_secret.ts";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-owned-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("processes that start together agree on a file, and leave nothing else behind", () =>
  inFolder(async (folder) => {
    const path = `${folder}/new/secret`;
    const texts = await Promise.all(
      Array.from({ length: 20 }, (_, i) => readOrCreateOwned(path, () => `text ${i}`)),
    );
    assertEquals(new Set(texts).size, 1);
    assertEquals(Array.from(Deno.readDirSync(`${folder}/new`), ({ name }) => name), ["secret"]);
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  }));

Deno.test("a file is replaced at once, and an absent one is no fault", () =>
  inFolder(async (folder) => {
    const path = `${folder}/certificate`;
    assertEquals(await readIfPresent(path), undefined);
    await writeOwned(path, "first");
    await writeOwned(path, "second", 0o644);
    assertEquals([await readIfPresent(path), ((await Deno.stat(path)).mode ?? 0) & 0o777], [
      "second",
      0o644,
    ]);
  }));

Deno.test("a file that cannot be replaced leaves nothing else behind", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/taken`);
    await assertRejects(() => writeOwned(`${folder}/taken`, "text"), Error);
    assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name), ["taken"]);
  }));

Deno.test("the relay's secret is made once, and taken from the file that the other process made", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/relay_secret`, "made by the API\n");
    assertEquals((await loadRelaySecret(folder)).reveal(), "made by the API");
    await Deno.remove(`${folder}/relay_secret`);
    assertMatch((await loadRelaySecret(folder)).reveal(), /^[\w-]{43}$/);
  }));
