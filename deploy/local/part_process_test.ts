import { pathToFileURL } from "node:url";
import { assertEquals } from "@std/assert";

Deno.test("a part runs and reads its files from a folder whose name has a space, a comma, a percent sign and other letters", async () => {
  const folder = await Deno.makeTempDir({ prefix: "Öl, 100%20 " });
  const root = pathToFileURL(`${folder}/`);
  for (const name of ["deploy/local", "migrations"]) {
    await Deno.mkdir(new URL(name, root), { recursive: true });
  }
  for (const name of ["commands.ts", "part_process.ts", "permitted_paths.ts"]) {
    await Deno.copyFile(new URL(name, import.meta.url), new URL(`deploy/local/${name}`, root));
  }
  await Deno.writeTextFile(new URL("migrations/1.sql", root), "SELECT 1");
  await Deno.writeTextFile(
    new URL("supervised_process.ts", root),
    `console.log(Deno.readTextFileSync(new URL("migrations/1.sql", import.meta.url)));`,
  );
  // cast: copies of these modules
  const { apiPermissions } = await import(
    `${root}deploy/local/commands.ts`
  ) as typeof import("./commands.ts");
  const { spawnPart } = await import(
    `${root}deploy/local/part_process.ts`
  ) as typeof import("./part_process.ts");
  const flags = apiPermissions(() => undefined);
  const part = spawnPart(
    { entry: "supervised_process.ts", flags, environment: {}, withheld: [] },
    Deno.env.toObject(),
  );
  assertEquals([await Array.fromAsync(part.lines), await part.ended, part.complaints()], [
    ["SELECT 1"],
    "ended with code 0",
    "",
  ]);
  part.letGo();
  await Deno.remove(folder, { recursive: true });
});
