/** A Python that is new enough for the package. */
import type { Requirement } from "./mod.ts";

const script = "import sys, venv, pip; print(sys.executable if sys.version_info >= (3, 9) else '')";

/** Its path, or undefined. */
export async function findPython(): Promise<string | undefined> {
  try {
    const { success, stdout } = await new Deno.Command("python3", {
      args: ["-c", script],
      stderr: "null",
    }).output();
    return success ? new TextDecoder().decode(stdout).trim() || undefined : undefined;
  } catch {
    return undefined;
  }
}

export const python: Requirement = {
  met: await findPython() !== undefined,
  reason: "Python 3.9 or newer with pip is not installed",
};
