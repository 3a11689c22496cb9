import { assert, assertEquals } from "@std/assert";
import { apiKeyPattern, errorCodes } from "../../proto/mod.ts";

const read = (path: string): Promise<string> =>
  Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
const page = await read("docs/http_api.md");

function namesIn(text: string, pattern: RegExp): string[] {
  return [...new Set(Array.from(text.matchAll(pattern), ([name]) => name))].sort();
}

Deno.test("docs/configuration.md names exactly the variables that the API reads", async () => {
  const [, section = ""] = (await read("docs/configuration.md")).split("\n## API\n");
  const variable = /\b(STATIC_[A-Z0-9_]+|DATABASE_URL)\b/g;
  const sources = await Promise.all(["api/config.ts", "server/admin.ts"].map(read));
  assertEquals(
    namesIn(section.split("\n## ")[0] ?? "", variable),
    namesIn(sources.join("\n"), variable),
  );
});

Deno.test("docs/http_api.md shows the pattern for secret scanners and the statuses of the error table", () => {
  assert(page.includes(`\n${apiKeyPattern}\n`));
  const rows = Array.from(
    page.matchAll(/^\| (\d{3}) +\| `(\w+)`/gm),
    ([, status, code]) => ({ status: Number(status), code }),
  );
  assert(rows.length >= 12);
  const known: Readonly<Record<string, { http: number }>> = errorCodes;
  for (const { status, code } of rows) assertEquals(known[code ?? ""]?.http, status, code);
});

Deno.test("docs/http_api.md shows only commands that exist", async () => {
  const { tasks } = JSON.parse(await read("deno.json"));
  for (const [, task] of page.matchAll(/deno task ([\w:-]+)/g)) assert((task ?? "") in tasks, task);
});

Deno.test("docs/http_api.md names exactly the metrics that are exported", async () => {
  const metric = /\bstatic_api_[a-z_]+[a-z]\b/g;
  const exported = await Promise.all(
    ["api/metrics.ts", "api/app.ts", "api/start_api.ts"].map(read),
  );
  assertEquals(namesIn(page, metric), namesIn(exported.join("\n"), metric));
});
