/** Programs that the user names, with something on their standard input. */
import { spawn } from "node:child_process";
import process from "node:process";

/** Whether a process of this id is there. One of another user refuses the question. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && Reflect.get(error, "code") === "EPERM";
  }
}

export interface CommandInput {
  readonly input: Uint8Array;
  /** Beside those of this program. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Resolves with its exit code; undefined when it was ended by a signal. Rejects when it cannot be
 * started.
 */
export function runCommand(
  argv: readonly string[],
  { input, variables }: CommandInput,
): Promise<number | undefined> {
  const [command = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    // A group of its own: a Ctrl-C ends this program, which lets the command finish.
    const child = spawn(command, args, {
      env: { ...process.env, ...variables },
      stdio: ["pipe", "inherit", "inherit"],
      detached: process.platform !== "win32",
    });
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? undefined));
    // One that does not read its input is free not to.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
