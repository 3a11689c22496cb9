/**
 * A copy of the last commit, for tools that plant something in the project and run its suites
 * there.
 */
import { root } from "./suite_run.ts";

/** The copy is gone at the end. */
export async function withClone<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const place = await Deno.makeTempDir({ prefix: "planted-" });
  try {
    // PostgreSQL refuses to run as root, and passes through here as another user.
    await Deno.chmod(place, 0o711);
    await git(place, "clone", "--quiet", "--local", "--no-hardlinks", root, "project");
    // Tests look beside their checkout for vectors and for programs of others.
    await Deno.symlink(`${root}/../shared`, `${place}/shared`);
    return await use(`${place}/project`);
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}

/** Takes back what was planted. */
export async function resetClone(folder: string): Promise<void> {
  await git(folder, "reset", "--quiet", "--hard");
  await git(folder, "clean", "--quiet", "-fd");
}

interface ProcessEnd {
  readonly code: number;
  readonly output: string;
}

/** Runs a suite by the test command of the copy. */
export function runSuiteIn(folder: string, name: string): Promise<ProcessEnd> {
  return runIn(folder, ["run", "-A", "tools/test_command.ts", name]);
}

/** Runs some test files of the copy. */
export function runFilesIn(folder: string, files: readonly string[]): Promise<ProcessEnd> {
  return runIn(folder, ["test", "-A", "--no-check", "--quiet", ...files]);
}

async function runIn(folder: string, args: readonly string[]): Promise<ProcessEnd> {
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: folder,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stderr: "null",
  }).output();
  return { code, output: new TextDecoder().decode(stdout) };
}

/** Returns what git prints. Throws when it fails. */
export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args: [...args], cwd })
    .output();
  if (!success) {
    throw new Error(`git ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
  }
  return new TextDecoder().decode(stdout);
}
