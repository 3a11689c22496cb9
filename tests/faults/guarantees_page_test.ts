// docs/guarantees.md promises nothing under faults that no test shows.
import { assert, assertEquals, assertGreater } from "@std/assert";
import { faults } from "./faults.ts";
import { promises } from "./promises.ts";

const root = new URL("../../", import.meta.url);
const page = await Deno.readTextFile(new URL("docs/guarantees.md", root));

Deno.test("every promise under faults has its test, and every listed test its promise", () => {
  const [, section = ""] = page.split("\n## Under faults\n");
  const lines = (section.split("\n## ")[0] ?? "").split("\n").filter((line) =>
    line.startsWith("|")
  );
  const rows = lines.slice(2).map((line) => line.split("|").map((cell) => cell.trim()));
  assertGreater(promises.length, 50);
  const faultsOfTests = new Set(promises.map(({ fault }) => fault));
  assertEquals(rows.map(([, fault]) => fault), [...faultsOfTests]);
  assertEquals(rows.filter(([, , promise]) => (promise?.length ?? 0) < 3), []);
});

Deno.test("the tests that show promises under faults exist", async () => {
  for (const { fault, test, file } of promises) {
    const text = await Deno.readTextFile(new URL(file, root));
    assert(text.includes(test), `${fault}: ${file} has no test called "${test}"`);
  }
});

Deno.test("every fault of the fault run has a promise on the page", () => {
  const listed = new Set(promises.map(({ test }) => test));
  assertEquals(faults.filter(({ name }) => !listed.has(name)).map(({ name }) => name), []);
});
