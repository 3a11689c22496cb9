import { assert, assertEquals } from "@std/assert";
import { directiveOf } from "../../tools/pages/directive.ts";
import { parsePage, readPages } from "../../tools/pages/markdown.ts";
import { listFiles } from "../../tools/source.ts";

const repository = new URL("../../", import.meta.url);
const pages = readPages();

Deno.test("links of the pages lead to files, and their fragments to headings", () => {
  const broken = pages.flatMap((page) =>
    page.links.filter(({ target }) =>
      !/^(https?|mailto):/.test(target) && !leadsSomewhere(page.path, target)
    )
      .map(({ line, target }) => `${page.path}:${line} links to ${target}`)
  );
  assertEquals(broken, []);
});

Deno.test("the map of CONTRIBUTING.md names every folder, and only folders that exist", () => {
  const page = Deno.readTextFileSync(new URL("CONTRIBUTING.md", repository));
  const named = Array.from(page.matchAll(/^\| +`([\w.]+)\/` +\|/gm), ([, name = ""]) => name)
    .sort();
  const hidden = /^(\.git|\.static|\.vscode|\.idea|node_modules|npm|dist|coverage)$/;
  const folders = Array.from(Deno.readDirSync(repository)).filter(({ isDirectory, name }) =>
    isDirectory && !hidden.test(name)
  ).map(({ name }) => name).sort();
  assertEquals(named, folders);
});

Deno.test("the README has at most 1,500 words, and each row of its comparison but ours a source", () => {
  const readme = Deno.readTextFileSync(new URL("README.md", repository));
  assert(readme.split(/\s+/).length <= 1_500, `README.md has ${readme.split(/\s+/).length} words`);
  const [, section = ""] = readme.split("## How it compares\n");
  assert(/read on \d+ [A-Z][a-z]+ \d{4}\./.test(section), "the comparison has no date");
  const rows =
    section.split("\n## ")[0]?.match(/^\| [^|]+/gm)?.slice(2).map((cell) => cell.slice(2).trim()) ??
      [];
  assertEquals(rows.length, 7);
  const named = (cell: string): string | undefined => /\[[^\]]+\]\[(\w+)\]/.exec(cell)?.[1];
  const unsourced = rows.filter((cell) => !readme.includes(`\n[${named(cell)}]: https://`));
  assertEquals(unsourced, ["Static"]);
});

Deno.test("every page that code, texts and pages name exists", async () => {
  const paths = await listFiles(repository.pathname);
  const known = new Set(paths);
  const missing = await Promise.all(paths.map(async (path) => {
    if (!/\.(ts|tsx|py|md|txt|json|ya?ml|env|conf|sql|sh|service)$/.test(path)) return [];
    const text = await Deno.readTextFile(new URL(path, repository));
    const named = text.match(/(?<![\w/])docs\/[\w/]+\.md/g) ?? [];
    return named.filter((page) => !known.has(page)).map((page) => `${path} names ${page}`);
  }));
  assertEquals(missing.flat(), []);
});

Deno.test("every file that is named as code of our own exists", () => {
  const decisions = Deno.readTextFileSync(new URL("docs/architecture.md", repository));
  const [, page = ""] = decisions.split("\n## What we wrote ourselves\n");
  const named = Array.from(page.matchAll(/`((?:[\w.]+\/)+[\w.]*)`/g), ([, path = ""]) => path);
  assert(named.length > 15, `${named.length} files`);
  assertEquals(named.filter((path) => !path.startsWith("mls/") && !leadsSomewhere("", path)), []);
});

Deno.test("every task that a page names exists", () => {
  const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", repository)));
  const named = pages.flatMap(({ path }) =>
    Array.from(
      Deno.readTextFileSync(new URL(path, repository)).matchAll(
        /(?:deno|deno@[\d.]+) task (?:--\S+ )*([\w:-]+)/g,
      ),
      ([, task = ""]) => ({ path, task }),
    )
  );
  assert(named.length > 10);
  assertEquals(named.filter(({ task }) => !(task in tasks)), []);
});

Deno.test("parsePage() finds blocks, the comment before each, headings and links, and none inside blocks", () => {
  const page = parsePage(
    "a.md",
    "# A `b`: c\n\n[x](y.md#z) `[n](o)`\n\n<!-- not run:\n a reason -->\n\n```sh\n# no heading\n[n](o)\n```\n\n```ts\nx\n```\n# A b c\n",
  );
  assertEquals(page.blocks, [
    {
      page: "a.md",
      line: 8,
      language: "sh",
      text: "# no heading\n[n](o)\n",
      comment: "not run: a reason",
    },
    { page: "a.md", line: 13, language: "ts", text: "x\n", comment: undefined },
  ]);
  assertEquals(page.links, [{ line: 3, target: "y.md#z" }]);
  assertEquals([...page.anchors], ["a-b-c", "a-b-c-1"]);
  assertEquals(page.blocks.map(directiveOf), [
    { kind: "skip", reason: "a reason" },
    { kind: "run", answers: [] },
  ]);
});

function leadsSomewhere(from: string, target: string): boolean {
  const [path = "", fragment] = target.split("#");
  const file = path === "" ? from : new URL(path, `file:///${from}`).pathname.slice(1);
  try {
    Deno.statSync(new URL(file, repository));
  } catch {
    return false;
  }
  if (fragment === undefined || !file.endsWith(".md")) return fragment === undefined;
  return parsePage(file, Deno.readTextFileSync(new URL(file, repository))).anchors.has(fragment);
}
