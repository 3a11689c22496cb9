/** The pages' TypeScript: all of it type-checked together, then each block run in a folder of its own. */
import { runsOf } from "../support/page_runs.ts";
import type { Block } from "./markdown.ts";
import type { Desk } from "./desk.ts";

const repository = new URL("../../", import.meta.url);

interface CodeRun {
  readonly block: Block;
  /** Where the block was written. */
  readonly file: string;
  readonly desk: Desk;
}

/** Writes the blocks where their imports mean what they mean on their pages; returns the file of each. */
export async function writeCode(blocks: readonly Block[], desk: Desk): Promise<Map<Block, string>> {
  const files = new Map<Block, string>();
  await Deno.mkdir(`${desk.folder}/code`, { recursive: true });
  for (const block of blocks) {
    const page = new URL(block.page, repository);
    const text = desk.translate(block.text)
      .replace(/(?<=\bfrom "|\bimport\(?")\.{1,2}\/[^"]+/g, (specifier) => new URL(specifier, page).href)
      .replace(/(?<=\bfrom ")static-sdk(?=")/g, new URL("sdk/mod.ts", repository).href);
    const path = `${desk.folder}/code/${block.page.replace(/\W+/g, "_")}_${block.line}.ts`;
    await Deno.writeTextFile(path, text);
    files.set(block, path);
  }
  return files;
}

export async function checkCode(files: readonly string[]): Promise<void> {
  if (files.length > 0) await runDeno(["check", "--quiet", ...files], repository.pathname, {});
}

export async function runCode({ block, file, desk }: CodeRun): Promise<void> {
  const folder = `${file}.run`;
  await Deno.mkdir(folder);
  for (let run = 0; run < runsOf(block.page); run++) {
    await runDeno(["run", "-A", "--no-check", "--quiet", file], folder, desk.environment);
  }
}

async function runDeno(
  args: readonly [string, ...string[]],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const [command, ...rest] = args;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [command, "--config", new URL("deno.json", repository).pathname, ...rest],
    cwd,
    env,
    stdin: "null",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
}
