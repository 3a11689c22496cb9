// The pages that are written for models: what they name exists.
import { assert, assertEquals } from "@std/assert";

const docs = new URL("../../docs/", import.meta.url);

Deno.test("llms.txt leads to files", async () => {
  const text = await Deno.readTextFile(new URL("llms.txt", docs));
  const links = Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, link = ""]) => link);
  assert(links.length > 15);
  for (const link of links) assert((await Deno.stat(new URL(link, docs))).isFile, link);
  assertEquals(new Set(links).size, links.length);
});

Deno.test("the skill has the form of one, and names tools that exist", async () => {
  const text = await Deno.readTextFile(new URL("skills/static/SKILL.md", docs));
  const [, head = ""] = /^---\n([^]*?)\n---\n/.exec(text) ?? [];
  const fields = Object.fromEntries(
    head.split("\n").map((line) => line.split(/: (.*)/).slice(0, 2)),
  );
  assertEquals(fields["name"], "static");
  assert(fields["description"].length > 100 && fields["description"].length <= 1024);
  const page = await Deno.readTextFile(new URL("agents.md", docs));
  const tools = Array.from(page.matchAll(/^\| `(\w+)` +\|/gm), ([, name = ""]) => name);
  for (const tool of ["channels", "members", "wait", "send", "request", "reply", "join"]) {
    assert(text.includes(`\`${tool}\``) && tools.includes(tool), tool);
  }
});

Deno.test("the page about language models lists exactly the tools that there are", async () => {
  const page = await Deno.readTextFile(new URL("agents.md", docs));
  const [, section = ""] = page.split(/^## (?:Tools|What is kept from the model)$/m);
  const listed = Array.from(section.matchAll(/^\| `(\w+)` +\|/gm), ([, name = ""]) => name);
  const sources = await Promise.all(
    ["tools.ts", "allowed_tools.ts"].map((file) =>
      Deno.readTextFile(new URL(`../cli/mcp/${file}`, docs))
    ),
  );
  const registered = sources.flatMap((text) =>
    Array.from(text.matchAll(/registerTool\(\s*"(\w+)"/g), ([, name = ""]) => name)
  );
  assertEquals(listed.toSorted(), registered.toSorted());
});
