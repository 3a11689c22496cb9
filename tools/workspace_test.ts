import { assert, assertEquals } from "@std/assert";
import { version } from "../proto/mod.ts";
import { entryPoints } from "./workspace.ts";

const root = new URL("../", import.meta.url);

Deno.test("every package exports its mod.ts and only modules that exist", async () => {
  const { workspace } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  for (const folder of workspace) assert(entryPoints.has(`${folder}/mod.ts`), folder);
  for (const path of entryPoints) assert((await Deno.stat(new URL(path, root))).isFile, path);
});

Deno.test("pages that name a packed package name the one of this version", async () => {
  for (
    const page of [
      "README.md",
      "examples/README.md",
      "sdk/README.md",
      "cli/README.md",
      "docs/operations.md",
    ]
  ) {
    const text = await Deno.readTextFile(new URL(page, root));
    for (const [name, named] of text.matchAll(/static-(?:sdk|cli)-(\d[\w.-]*)\.tgz/g)) {
      assertEquals(named, version, `${page} names ${name}`);
    }
  }
});
