import { assertEquals } from "@std/assert";
import { readPages } from "./markdown.ts";

const pages = readPages();
const index = pages.find(({ path }) => path === "docs/index.md");

Deno.test("docs/index.md links every page of the documentation", () => {
  const linked = new Set(index?.links.map(({ target }) => new URL(target, "file:///docs/index.md").pathname.slice(1)));
  const missing = pages.map(({ path }) => path).filter((path) => path.startsWith("docs/") && !linked.has(path));
  assertEquals(missing, ["docs/index.md"]);
});
