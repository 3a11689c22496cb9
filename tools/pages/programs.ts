/** The pages' TypeScript as programs: `deno task test types` checks them, `tests/docs/` runs them. */
import { directiveOf } from "./directive.ts";
import type { Block, Page } from "./markdown.ts";

const repository = new URL("../../", import.meta.url);

/** Writes the blocks that are run where their imports mean what they mean on their pages. Returns the file of each. */
export async function writePrograms(
  folder: string,
  pages: readonly Page[],
  translate: (text: string) => string = (text) => text,
): Promise<Map<Block, string>> {
  const blocks = pages.flatMap(({ blocks }) => blocks)
    .filter((block) => block.language === "ts" && directiveOf(block).kind !== "skip");
  await Deno.mkdir(folder, { recursive: true });
  const files = new Map<Block, string>();
  for (const block of blocks) {
    const page = new URL(block.page, repository);
    const text = translate(block.text)
      .replace(/(?<=\bfrom "|\bimport\(?")\.{1,2}\/[^"]+/g, (specifier) => new URL(specifier, page).href)
      .replace(/(?<=\bfrom ")static-sdk(?=")/g, new URL("sdk/mod.ts", repository).href);
    const path = `${folder}/${block.page.replace(/\W+/g, "_")}_${block.line}.ts`;
    await Deno.writeTextFile(path, text);
    files.set(block, path);
  }
  return files;
}
