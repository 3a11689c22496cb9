import { assert, assertStringIncludes } from "@std/assert";

const root = new URL("../../", import.meta.url);

Deno.test("every claim of the threat model names a test that exists", () => {
  const page = Deno.readTextFileSync(new URL("docs/threat_model.md", root));
  const rows = page.split("\n").filter((line) => /^\| (?!claim|-)/.test(line));
  assert(rows.length >= 20, `${rows.length} claims`);
  for (const row of rows) {
    const [, path = "", name = ""] = /`([^`]+_test\.ts|[^`]+\.ts)`: "(.+)"/.exec(row) ?? [];
    assert(path !== "" && name !== "", `no test is named in: ${row}`);
    // As a name: a test's own, or that of a step.
    assertStringIncludes(
      Deno.readTextFileSync(new URL(path, root)),
      `"${name}"`,
      `${path} has no test "${name}"`,
    );
  }
});
