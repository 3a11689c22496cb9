import { assert, assertEquals } from "@std/assert";
import { version } from "../proto/mod.ts";
import { entryPoints, packageConfig, packages } from "./workspace.ts";

const root = new URL("../", import.meta.url);

Deno.test("the workspace is made of the packages of the table, in the same order", async () => {
  const { workspace } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  assertEquals(workspace, Object.keys(packages));
});

Deno.test("every package exports its mod.ts and only modules that exist", async () => {
  for (const folder of Object.keys(packages)) assert(entryPoints.has(`${folder}/mod.ts`), folder);
  for (const path of entryPoints) assert((await Deno.stat(new URL(path, root))).isFile, path);
});

Deno.test("every package carries the project's version", () => {
  for (const folder of Object.keys(packages)) {
    const { name, version: carried } = JSON.parse(packageConfig(folder));
    assertEquals([name, carried], [`@static/${folder}`, version]);
  }
});

Deno.test("pages that name a packed package name the one of this version", async () => {
  for (const page of ["README.md", "examples/README.md", "sdk/README.md", "cli/README.md", "docs/operations.md"]) {
    const text = await Deno.readTextFile(new URL(page, root));
    for (const [name, named] of text.matchAll(/static-(?:sdk|cli)-(\d[\w.-]*)\.tgz/g)) {
      assertEquals(named, version, `${page} names ${name}`);
    }
  }
});
