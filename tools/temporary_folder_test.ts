import { assertEquals, assertRejects } from "@std/assert";
import { withTemporaryFolder } from "./temporary_folder.ts";

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("withTemporaryFolder() names what a process leaves in its TMPDIR, and removes it", async () => {
  const program =
    `await Deno.makeTempDir({ prefix: "kept-" }); await Deno.remove(await Deno.makeTempFile());`;
  const { result: folder, names } = await withTemporaryFolder(async (folder) => {
    const args = ["eval", program];
    await new Deno.Command(Deno.execPath(), { args, env: { TMPDIR: folder } }).output();
    return folder;
  });
  assertEquals(names.map((name) => name.slice(0, 5)), ["kept-"]);
  assertEquals(await exists(folder), false);
});

Deno.test("withTemporaryFolder() finds nothing where everything was removed, and removes the folder after a fault", async () => {
  assertEquals((await withTemporaryFolder(() => Promise.resolve(1))).names, []);
  const folders: string[] = [];
  await assertRejects(() =>
    withTemporaryFolder((folder) => {
      folders.push(folder);
      throw new Error("as asked");
    }), Error);
  assertEquals(await exists(folders[0] ?? ""), false);
});
