/** A program that the user names, and that is spoken with in lines. */
import { spawn } from "node:child_process";
import process from "node:process";

export interface ChildProgram {
  /** Rejects when it does not read any more. */
  write(text: string): Promise<void>;
  /**
   * Returns lines of its standard output. Throws when it cannot be started, and for a line that is
   * too long.
   */
  lines(): AsyncIterable<string>;
  end(): void;
}

export interface ChildOptions {
  /** Beside those of this program that `without` lets through. */
  readonly variables: Readonly<Record<string, string>>;
  /** Names of variables of this program that are not for it. */
  readonly without: (name: string) => boolean;
}

/** Until one that was asked to end is ended. */
const endMs = 2000;

/** Longer lines are refused. */
export const maxLineBytes: number = 4 * 1024 * 1024;

export function startChild(
  argv: readonly string[],
  { variables, without }: ChildOptions,
): ChildProgram {
  const [command = "", ...args] = argv;
  const own = Object.entries(process.env).filter(([name]) => !without(name));
  const child = spawn(command, args, {
    env: { ...Object.fromEntries(own), ...variables },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let why: Error | undefined;
  const failed = new Promise<never>((_, reject) =>
    child.once("error", (error) => {
      why = error;
      reject(error);
    })
  );
  failed.catch(() => {});
  // Told by `write`.
  child.stdin.on("error", () => {});
  return {
    write: (text) =>
      new Promise((resolve, reject) =>
        child.stdin.write(text, (error) => error ? reject(why ?? error) : resolve())
      ),
    lines: () => linesOf(child.stdout, failed),
    end: () => {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), endMs);
      child.once("close", () => clearTimeout(timer));
      child.kill("SIGTERM");
    },
  };
}

async function* linesOf(
  output: AsyncIterable<Uint8Array>,
  failed: Promise<never>,
): AsyncGenerator<string> {
  const pieces = output[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await Promise.race([pieces.next(), failed]);
    if (done === true) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxLineBytes) throw new RangeError("it prints a line without an end");
    yield* lines;
  }
}
