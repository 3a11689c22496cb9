/** The pages' TypeScript: each block is run in a folder of its own. */
import type { Block } from "../../tools/pages/markdown.ts";
import { runsOf } from "../support/page_runs.ts";
import type { Desk } from "./desk.ts";

const config = new URL("../../deno.json", import.meta.url).pathname;

interface CodeRun {
  readonly block: Block;
  /** Where the block was written. */
  readonly file: string;
  readonly desk: Desk;
}

export async function runCode({ block, file, desk }: CodeRun): Promise<void> {
  const cwd = `${file}.run`;
  await Deno.mkdir(cwd);
  for (let run = 0; run < runsOf(block.page); run++) {
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--config", config, "-A", "--no-check", "--quiet", file],
      cwd,
      env: { ...desk.environment },
      stdin: "null",
    }).output();
    if (!success) {
      throw new Error(new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    }
  }
}
