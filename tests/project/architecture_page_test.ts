import { assert, assertEquals } from "@std/assert";
import { mayImport } from "../../tools/check_imports.ts";

const root = new URL("../../", import.meta.url);
const page = Deno.readTextFileSync(new URL("docs/architecture.md", root));

/** The cells of the table below a heading, row by row, without backticks. */
function tableBelow(heading: string): string[][] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const rows = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("|"))
    .slice(2);
  return rows.map((row) =>
    row.split("|").slice(1, -1).map((cell) => cell.trim().replaceAll("`", ""))
  );
}

Deno.test("the architecture page lists every package with what it may import", () => {
  const listed = tableBelow("Packages").map(([name = "", , imports = ""]) => [
    name,
    imports === "–" ? [] : imports.split(" "),
  ]);
  assertEquals(Object.fromEntries(listed), mayImport);
});

Deno.test("the architecture page lists every rule of the import check", () => {
  const scripts = ["tools/check_imports.ts", "tools/owners.ts"].map((path) =>
    Deno.readTextFileSync(new URL(path, root))
  );
  const script = scripts.join("\n");
  const rules = Array.from(
    script.matchAll(/\brule: "(\w+)"|\badd\([^,]+,\s+"(\w+)"/g),
    ([, one, other]) => one ?? other,
  );
  assertEquals(
    tableBelow("Rules that a script checks").map(([rule]) => rule).sort(),
    [...new Set(rules)].sort(),
  );
});

Deno.test("the architecture page names every folder of a package, and only folders that exist", async () => {
  const [, tree = ""] = /## Inside\n\n```text\n([^]*?)```/.exec(page) ?? [];
  const parts = tree.split(/^(?=\w+\/ )/m);
  for (const part of parts) {
    const [name = "", ...words] = part.match(/\b[\w]+\//g) ?? [];
    const folders: string[] = [];
    for await (const entry of Deno.readDir(new URL(name, root))) {
      if (entry.isDirectory && !["gen", "testing", "testdata"].includes(entry.name)) {
        folders.push(`${entry.name}/`);
      }
    }
    if (name === "tests/") assert(folders.includes("support/"));
    else assertEquals([...new Set(words)].sort(), folders.sort(), name);
  }
  assert(parts.length > 5);
});
