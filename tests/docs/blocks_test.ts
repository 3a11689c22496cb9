import { assert, assertEquals } from "@std/assert";
import { directiveOf } from "../../tools/pages/directive.ts";
import { type Block, type Page, readPages } from "../../tools/pages/markdown.ts";
import { writePrograms } from "../../tools/pages/programs.ts";
import { installed, testWhen } from "../support/mod.ts";
import { runCode } from "./code.ts";
import { type Desk, openDesk, type Service } from "./desk.ts";

/** Pages to follow, with commas; all of them when it is not set. */
const chosen = Deno.env.get("STATIC_TEST_PAGES")?.split(",");
const pages = readPages().filter(({ path, blocks }) => blocks.length > 0 && (chosen?.includes(path) ?? true));

/** Shown, not run: output, patterns, pictures; and Python, which tests/python/ runs. */
const shown = ["text", "py"];
const runnable = ["sh", "ts", "json"];

Deno.test("every block is run, is plain text, or says why it is not run", () => {
  const silent = pages.flatMap(({ blocks }) => blocks).filter((block) =>
    directiveOf(block).kind !== "skip" && !runnable.includes(block.language) && !shown.includes(block.language)
  );
  assertEquals(silent.map(({ page, line, language }) => `${page}:${line} is ${language || "of no language"}`), []);
});

testWhen(installed("bash", "curl"), "the pages", async (t) => {
  await using desk = await openDesk();
  const files = await writePrograms(`${desk.folder}/code`, pages, desk.translate);
  for (const page of pages) await t.step(page.path, (t) => followPage(page, { desk, files, t }));
});

interface Reading {
  readonly desk: Desk;
  readonly files: ReadonlyMap<Block, string>;
  readonly t: Deno.TestContext;
}

/** From top to bottom, as a reader does; what a page starts is stopped at its end. */
async function followPage(page: Page, { desk, files, t }: Reading): Promise<void> {
  const services: Service[] = [];
  for (const block of page.blocks) {
    const directive = directiveOf(block);
    if (directive.kind === "skip" || shown.includes(block.language)) continue;
    await t.step(`${page.path}:${block.line} ${block.language}`, async () => {
      if (block.language === "json") return void JSON.parse(block.text);
      if (block.language === "ts") return await runCode({ block, file: files.get(block) ?? "", desk });
      if (directive.kind === "serve") return void services.push(await desk.serve(block.text, directive.until));
      await desk.run(block.text, directive.answers);
    });
  }
  for (const service of services.reverse()) {
    await t.step(`${page.path} stops what it started`, async () => {
      const { code, output } = await service.interrupt();
      assert(code === 0, `exit code ${code}: ${output}`);
    });
  }
}
