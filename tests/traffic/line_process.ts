/** A child process that answers each line of JSON with one. */
import { installed } from "../support/mod.ts";

/**
 * Client and relay have machines of their own in real life, here they share one with each other and
 * with everything else. Where we may, they come first; else what is measured is who else wants the
 * processor.
 */
const first = Deno.uid() === 0 && installed("nice").met ? ["nice", "-n", "-15"] : [];

export class LineProcess {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncGenerator<string>;

  constructor(command: string, args: readonly string[], env: Record<string, string> = {}) {
    const [program, ...rest] = [...first, command, ...args];
    this.#child = new Deno.Command(program ?? command, {
      args: rest,
      env,
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = linesOf(this.#child.stdout);
  }

  /** A module of this folder in Deno. */
  static deno(
    module: string,
    args: readonly string[],
    env: Record<string, string> = {},
  ): LineProcess {
    const path = new URL(module, import.meta.url).pathname;
    return new LineProcess(
      Deno.execPath(),
      ["run", "-A", "--no-check", "--quiet", path, ...args],
      env,
    );
  }

  /** The next line; the caller knows what it is. */
  async next<Answer>(): Promise<Answer> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error("A process of this test has ended");
    return JSON.parse(value);
  }

  async ask<Answer>(command: unknown): Promise<Answer> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    return await this.next();
  }

  /** Ends its input, and the process if that does not. */
  async end(): Promise<void> {
    await this.#input.close().catch(() => {});
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 5_000);
    await this.#child.status;
    clearTimeout(timer);
    await this.#lines.return(undefined);
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
