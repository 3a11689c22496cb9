import { assert, assertEquals } from "@std/assert";
import { parsePage, readPages } from "../../tools/pages/markdown.ts";
import { questions } from "./questions.ts";

const repository = new URL("../../", import.meta.url);
const pages = readPages();
const start = "docs/index.md";

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, repository));
}

/** The pages to which a page links. */
function linked(path: string): string[] {
  const targets = parsePage(path, read(path)).links.filter(({ target }) => !/^\w+:/.test(target));
  return targets.map(({ target }) => new URL(target, `file:///${path}`).pathname.slice(1)).filter((
    to,
  ) => to.endsWith(".md"));
}

Deno.test("docs/index.md links every page of the documentation", () => {
  const inIndex = new Set(linked(start));
  const missing = pages.map(({ path }) => path).filter((path) =>
    path.startsWith("docs/") && !inIndex.has(path)
  );
  assertEquals(missing, [start]);
});

Deno.test("ten questions each of newcomers, developers and operators are answered within two clicks of the index", () => {
  for (const reader of ["newcomer", "developer", "operator"]) {
    assertEquals(questions.filter((one) => one.reader === reader).length, 10);
  }
  const one = new Set(linked(start));
  const two = new Set([...one].flatMap(linked));
  for (const { question, page, answer } of questions) {
    assert(one.has(page) || two.has(page), `${page} is further than two clicks: ${question}`);
    assert(
      read(page).replace(/\s+/g, " ").includes(answer),
      `${page} lacks "${answer}": ${question}`,
    );
  }
});
