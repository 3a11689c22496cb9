// The files that a forge reads run the same commands as a contributor, and name versions that the
// pages name.
import { assert, assertEquals } from "@std/assert";
import { campaigns } from "../../tools/campaigns.ts";
import { suites } from "../../tools/suites.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => Deno.readTextFileSync(new URL(path, root));
const workflows = ["test", "release", "nightly"].map((name) =>
  read(`.github/workflows/${name}.yml`)
);
const tasks: Readonly<Record<string, string>> = JSON.parse(read("deno.json")).tasks;

Deno.test("workflows run tasks and suites that exist, with the README's Deno", () => {
  const version = /deno@([\d.]+)/.exec(read("README.md"))?.[1];
  const commands = workflows.flatMap((text) =>
    Array.from(text.matchAll(/npx -y deno@(\S+) task (\S+)([^\n]*)/g))
  );
  assert(commands.length >= 4);
  for (const [command, deno, task = "", rest = ""] of commands) {
    assertEquals(deno, version, command);
    assert(task in tasks, command);
    if (task !== "test") continue;
    const named = rest.trim().split(" ").filter((word) => word !== "" && word !== "--complete");
    assertEquals(named.filter((name) => !suites.some((suite) => suite.name === name)), [], command);
  }
  assert(workflows[0]?.includes("run: .ci/run"), "the whole run is CI's own entry");
});

Deno.test("every campaign runs every night, as a job of its own", () => {
  const [, list = ""] = /campaign:\n((?: +- \S+\n)+)/.exec(workflows[2] ?? "") ?? [];
  assertEquals(
    Array.from(list.matchAll(/- (\S+)/g), ([, name]) => name),
    campaigns.map(({ name }) => name),
  );
});

Deno.test("the supported runtimes are those that the workflows test", () => {
  const page = read("docs/maintenance.md").replace(/\s+/g, " ");
  const listed = (name: string): string[] =>
    Array.from(
      new RegExp(`${name}: \\[(.+)\\]`).exec(workflows[0] ?? "")?.[1]?.matchAll(/[\d.]+/g) ?? [],
      ([text]) => text,
    );
  const [nodes, pythons] = [listed("node"), listed("python")];
  assertEquals([nodes, pythons.length], [["20", "22", "24"], 5]);
  assert(page.includes(`Node ${nodes.slice(0, -1).join(", ")} and ${nodes.at(-1)};`), "Node");
  assert(page.includes(`Python ${pythons[0]} to ${pythons.at(-1)}.`), "Python");
  for (const runner of ["ubuntu-24.04 }", "ubuntu-24.04-arm }", "macos-15"]) {
    assert(workflows[0]?.includes(runner), runner);
  }
});

Deno.test("the style page has twenty pairs, no two alike", () => {
  const [, section = ""] = read("CONTRIBUTING.md").split(/<!-- (?:end of )?style pairs -->/);
  const rows = section.split("\n").filter((line) => line.startsWith("| ")).slice(2);
  const pairs = rows.map((row) =>
    row.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim())
  );
  assertEquals(new Set(pairs.map(([before]) => before)).size, 20);
  for (const [before, after] of pairs) assert(before !== after && (after?.length ?? 0) > 5, before);
});

Deno.test("the glossary is in alphabetical order and names each term once", () => {
  const terms = Array.from(
    read("docs/glossary.md").matchAll(/^- \*\*([^*]+)\*\*: /gm),
    ([, term = ""]) => term,
  );
  assert(terms.length >= 30);
  assertEquals(terms, [...new Set(terms)].sort((a, b) => a.localeCompare(b, "en")));
});

Deno.test("the changelog has short entries, below the headings that other pages name", () => {
  const [head = "", ...versions] = read("CHANGELOG.md").split(/^## /m);
  assert(head.includes("docs/maintenance.md"));
  assert(versions[0]?.startsWith("Unreleased\n"));
  for (const text of versions.slice(1)) {
    assert(/^\d+\.\d+\.\d+\S*, \d{4}-\d{2}-\d{2}\n/.test(text), text.slice(0, 40));
  }
  const headings = versions.flatMap((text) =>
    Array.from(text.matchAll(/^### (.+)$/gm), ([, heading = ""]) => heading)
  );
  const known = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
  assertEquals(headings.filter((heading) => !known.includes(heading)), []);
  const entries = versions.flatMap((text) => text.split(/\n(?=- |\n|### )/)).filter((text) =>
    text.startsWith("- ")
  );
  assert(entries.length > 10);
  assertEquals(entries.filter((entry) => entry.replace(/\s+/g, " ").length > 320), []);
});
