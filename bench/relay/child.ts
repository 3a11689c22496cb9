/** A process of a benchmark that answers lines with lines, until its input ends. */
import { linesOf } from "./lines.ts";

export class Child {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncGenerator<string>;

  constructor(command: string, args: readonly string[], cwd?: string) {
    this.#child = new Deno.Command(command, {
      args: [...args],
      ...(cwd && { cwd }),
      stdin: "piped",
      stdout: "piped",
    })
      .spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = linesOf(this.#child.stdout);
  }

  get pid(): number {
    return this.#child.pid;
  }

  async line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error("A process of the benchmark has ended");
    return value;
  }

  async ask(line: string): Promise<string> {
    await this.#input.write(new TextEncoder().encode(`${line}\n`));
    return await this.line();
  }

  async end(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#child.status;
  }
}
