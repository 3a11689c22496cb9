// docs/reliability.md promises nothing that no test shows.
import { assert, assertEquals, assertGreater } from "@std/assert";
import { faults } from "./faults.ts";

const root = new URL("../../", import.meta.url);
/** Up to its figures of load, which are a table of another kind. */
const [page = ""] = (await Deno.readTextFile(new URL("docs/reliability.md", root))).split(
  "\n## Load\n",
);

interface Row {
  readonly fault: string;
  readonly test: string;
  readonly file: string;
}

const rows = page.split("\n").flatMap((line): Row[] => {
  const [, fault = "", , test = ""] = line.split("|").map((cell) => cell.trim());
  const [, name, file] = /^`(.+)` in (\S+)$/.exec(test) ?? [];
  return name === undefined || file === undefined ? [] : [{ fault, test: name, file }];
});

Deno.test("docs/reliability.md names only tests that exist", async () => {
  assertGreater(rows.length, 40);
  const lines = page.split("\n").filter((line) => line.startsWith("|"));
  assertEquals(lines.length, rows.length + 2, "a row has no test, or one that cannot be read");
  for (const { fault, test, file } of rows) {
    const text = await Deno.readTextFile(new URL(file, root));
    assert(text.includes(test), `${fault}: ${file} has no test called "${test}"`);
  }
});

Deno.test("docs/reliability.md lists every fault of the fault run", () => {
  const listed = new Set(rows.map(({ test }) => test));
  assertEquals(faults.filter(({ name }) => !listed.has(name)).map(({ name }) => name), []);
});
