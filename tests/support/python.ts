/** A Python that is new enough for the package. */
import type { Requirement } from "./mod.ts";

const script = "import sys, venv, pip; print(sys.executable if sys.version_info >= (3, 9) else '')";

/** Its path, or undefined. `STATIC_TEST_PYTHON` names another one. */
export async function findPython(): Promise<string | undefined> {
  const name = Deno.env.get("STATIC_TEST_PYTHON") ?? "python3";
  try {
    const { success, stdout } = await new Deno.Command(name, { args: ["-c", script], stderr: "null" }).output();
    return success ? new TextDecoder().decode(stdout).trim() || undefined : undefined;
  } catch {
    return undefined;
  }
}

export const python: Requirement = {
  met: await findPython() !== undefined,
  reason: "Python 3.9 or newer with pip is not installed",
};
