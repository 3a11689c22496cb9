/**
 * The pages' TypeScript as programs: `deno task test types` checks them, `tests/docs/` runs them.
 */
import { directiveOf } from "./directive.ts";
import { type Block, type DocumentPage, readPage, readPages } from "./markdown.ts";

const repository = new URL("../../", import.meta.url);

/** Every page that has programs: the package's own README, too. */
export function readProgramPages(): DocumentPage[] {
  return [...readPages(), readPage("sdk/README.md")];
}

/**
 * Whether a block is a program that users of the package copy, run here or not. JavaScript counts:
 * users of TypeScript copy it as well.
 */
export function isSample({ language, text }: Block): boolean {
  return ["ts", "js"].includes(language) && /\bfrom "static-sdk/.test(text);
}

/** The name of the block's file. */
export function fileOf({ page, line }: Block): string {
  return `${page.replace(/\W+/g, "_")}_${line}.ts`;
}

/**
 * Writes samples, and blocks that are run, where their imports mean what they mean on their pages.
 * Returns the file of each.
 */
export async function writePrograms(
  folder: string,
  pages: readonly DocumentPage[],
  translate: (text: string) => string = (text) => text,
): Promise<Map<Block, string>> {
  const blocks = pages.flatMap(({ blocks }) => blocks)
    .filter((block) =>
      isSample(block) || block.language === "ts" && directiveOf(block).kind !== "skip"
    );
  await Deno.mkdir(folder, { recursive: true });
  const files = new Map<Block, string>();
  for (const block of blocks) {
    const page = new URL(block.page, repository);
    const text = translate(block.text)
      .replace(
        /(?<=\bfrom "|\bimport\(?")\.{1,2}\/[^"]+/g,
        (specifier) => new URL(specifier, page).href,
      )
      .replace(/(?<=\bfrom ")static-sdk(?=")/g, new URL("sdk/mod.ts", repository).href);
    const path = `${folder}/${fileOf(block)}`;
    await Deno.writeTextFile(path, text);
    files.set(block, path);
  }
  return files;
}
