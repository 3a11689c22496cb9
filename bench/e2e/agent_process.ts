/** An agent in a process of its own, led by lines of JSON. */
import type { ConnectOptions } from "../../sdk/mod.ts";
import { linesOf } from "../relay/lines.ts";
import type { Command } from "./agent.ts";

export type Options = Omit<ConnectOptions, "signal" | "token">;

export class AgentProcess {
  readonly transport: Promise<string>;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;

  constructor(command: string, args: readonly string[], options: Options) {
    this.#child = new Deno.Command(command, {
      args: [...args, JSON.stringify(options)],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = linesOf(this.#child.stdout)[Symbol.asyncIterator]();
    this.transport = this.#answer().then(({ transport }) => String(transport));
  }

  get pid(): number {
    return this.#child.pid;
  }

  async ask(command: Command): Promise<Record<string, unknown>> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    return await this.#answer();
  }

  async end(): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify({ do: "end" })}\n`));
    await this.#child.status;
  }

  async #answer(): Promise<Record<string, unknown>> {
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error("An agent ended early");
    return JSON.parse(value);
  }
}
