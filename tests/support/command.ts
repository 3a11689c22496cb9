/** Programs of the machine that tests use as clients. */
import type { Requirement } from "./requirement.ts";

/** The requirement that these programs are installed, for `testWhen`. */
export function installed(...names: readonly string[]): Requirement {
  const missing = names.filter((name) => !isInPath(name));
  return { met: missing.length === 0, reason: `${missing.join(" and ")} is not installed` };
}

function isInPath(name: string): boolean {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return folders.some((folder) => {
    try {
      return Deno.statSync(`${folder}/${name}`).isFile;
    } catch {
      return false;
    }
  });
}

/** Everything it printed, both streams; throws with it when the command fails. */
export async function runCommand(
  name: string,
  args: readonly string[],
  options: { mayFail?: boolean; cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const { cwd, env, mayFail = false } = options;
  const { success, stdout, stderr } = await new Deno.Command(name, {
    args: [...args],
    stdin: "null",
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  }).output();
  const decoder = new TextDecoder();
  const output = decoder.decode(stdout) + (success ? "" : decoder.decode(stderr));
  if (!success && !mayFail) throw new Error(`${name} failed: ${output}`);
  return output;
}
