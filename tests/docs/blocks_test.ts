import { assert, assertEquals } from "@std/assert";
import { directiveOf } from "../../tools/pages/directive.ts";
import { type Block, type DocumentPage, readPages } from "../../tools/pages/markdown.ts";
import { writePrograms } from "../../tools/pages/programs.ts";
import { installed, testWhen } from "../support/mod.ts";
import { runCode } from "./code.ts";
import { type Desk, openDesk, type Service } from "./desk.ts";

/** Pages to follow, with commas; all of them when it is not set. */
const chosen = Deno.env.get("STATIC_TEST_PAGES")?.split(",");
const pages = readPages().filter(({ path, blocks }) =>
  blocks.length > 0 && (chosen?.includes(path) ?? true)
);

/** Shown, not run: output, patterns, pictures; and Python, which tests/python/ runs. */
const shown = ["text", "py"];
const runnable = ["sh", "ts", "json"];

Deno.test("every block is run, is plain text, or says why it is not run", () => {
  const silent = pages.flatMap(({ blocks }) => blocks).filter((block) =>
    directiveOf(block).kind !== "skip" && !runnable.includes(block.language) &&
    !shown.includes(block.language)
  );
  assertEquals(
    silent.map(({ page, line, language }) => `${page}:${line} is ${language || "of no language"}`),
    [],
  );
});

testWhen(installed("bash", "curl"), "the pages", async (t) => {
  await using desk = await openDesk();
  const files = await writePrograms(`${desk.folder}/code`, pages, desk.translate);
  for (const group of Map.groupBy(pages, servedBy).values()) {
    const services = new Map<string, Service>();
    for (const page of group) {
      await t.step(page.path, (t) => followPage(page, { desk, files, services, t }));
    }
    for (const [command, service] of [...services].reverse()) {
      await t.step(`${command} stops`, async () => {
        const { code, output } = await service.interrupt();
        assert(code === 0, `exit code ${code}: ${output}`);
      });
    }
  }
});

/**
 * The commands of a page that serve. Pages with the same ones follow each other, so that each is
 * started once.
 */
function servedBy({ blocks }: DocumentPage): string {
  return blocks.filter((block) => directiveOf(block).kind === "serve").map(commandOf).join("; ");
}

/** Without its comment, and for a reader with Deno. */
function commandOf({ text }: Block): string {
  return text.replace(/ +#.*/, "").replace(/^npx -y deno@[\d.]+/, "deno").trim();
}

interface Reading {
  readonly desk: Desk;
  readonly files: ReadonlyMap<Block, string>;
  /** Those that run, by command. */
  readonly services: Map<string, Service>;
  readonly t: Deno.TestContext;
}

/** From top to bottom, as a reader does. */
async function followPage(
  page: DocumentPage,
  { desk, files, services, t }: Reading,
): Promise<void> {
  for (const block of page.blocks) {
    const directive = directiveOf(block);
    if (directive.kind === "skip" || shown.includes(block.language)) continue;
    await t.step(`${page.path}:${block.line} ${block.language}`, async () => {
      if (block.language === "json") return void JSON.parse(block.text);
      if (block.language === "ts") {
        return await runCode({ block, file: files.get(block) ?? "", desk });
      }
      if (directive.kind === "run") return void await desk.run(block.text, directive.answers);
      const command = commandOf(block);
      if (!services.has(command)) {
        services.set(command, await desk.serve(block.text, directive.until));
      }
    });
  }
}
