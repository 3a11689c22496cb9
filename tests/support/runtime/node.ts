/** Runs a bundle in Node. */
import type { Requirement } from "../mod.ts";

export const node: Requirement = {
  met: await versionOf("node") >= 20,
  reason: "Node 20 or newer is not on this machine",
};

export function runInNode(bundle: string, ...args: string[]): Promise<string> {
  return runInNodeAt("node", bundle, ...args);
}

/** `program`: a Node of another version. */
export async function runInNodeAt(
  program: string,
  bundle: string,
  ...args: string[]
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [bundle, ...args] })
    .output();
  const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`Node failed: ${errors}`);
  return output ?? "";
}

async function versionOf(command: string): Promise<number> {
  try {
    const { stdout } = await new Deno.Command(command, { args: ["--version"] }).output();
    return Number(/^v(\d+)/.exec(new TextDecoder().decode(stdout))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
