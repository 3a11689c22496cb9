/**
 * A part of the stack as a child process of Deno, with the permissions that its own task gives it.
 */
import type { PartProcess } from "./supervised_process.ts";

export interface PartCommand {
  /** From the repository's root. */
  readonly entry: string;
  /** Flags of the runtime: permissions, and what its engine is told. */
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Variables that the operator may have set otherwise. */
  readonly defaults?: Readonly<Record<string, string>>;
  /**
   * Variables of this process that are not for the part: a secret that it does not have cannot
   * leave it.
   */
  readonly withheld: readonly string[];
}

/** Kept of what a process complains of: the end, where the reason is. */
const maxComplaintCharacters = 8_000;

/** Variables that a part is told on its standard input, once they are known. */
export type LateVariables = Promise<Readonly<Record<string, string>>>;

/** `inherited` are this process's own variables. */
export function spawnPart(
  { entry, flags, environment, defaults, withheld }: PartCommand,
  inherited: Readonly<Record<string, string>>,
  late?: LateVariables,
): PartProcess {
  const passed = Object.entries(inherited).filter(([name]) => !withheld.includes(name));
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      ...flags,
      new URL(`../../${entry}`, import.meta.url).href,
    ],
    clearEnv: true,
    env: { ...defaults, ...Object.fromEntries(passed), ...environment },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  // A part that has ended, or is let go before, is told nothing.
  late?.then((variables) => input.write(new TextEncoder().encode(`${JSON.stringify(variables)}\n`)))
    .catch(() => {});
  let complaints = "";
  const listened = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      complaints = (complaints + text).slice(-maxComplaintCharacters);
    }
  })();
  return {
    lines: linesOf(child.stdout),
    ended: Promise.all([child.status, listened]).then(([{ code, signal }]) =>
      signal === null ? `ended with code ${code}` : `was ended by ${signal}`
    ),
    complaints: () => complaints,
    letGo: () => void input.close().catch(() => {}),
    kill: () => {
      try {
        child.kill("SIGKILL");
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // It has ended already.
      }
    },
  };
}

async function* linesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, void, undefined> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
