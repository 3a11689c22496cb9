/** An agent in a process of its own, led by lines of JSON. */
import type { ConnectOptions } from "../../sdk/mod.ts";
import { Child } from "../relay/child.ts";
import type { Command } from "./agent.ts";

export type Options = Omit<ConnectOptions, "signal" | "token">;

export class AgentProcess {
  readonly transport: Promise<string>;
  readonly #child: Child;

  constructor(command: string, args: readonly string[], options: Options) {
    this.#child = new Child(command, [...args, JSON.stringify(options)]);
    this.transport = this.#child.line().then((line) => String(JSON.parse(line).transport));
  }

  get pid(): number {
    return this.#child.pid;
  }

  async ask(command: Command): Promise<Record<string, unknown>> {
    return JSON.parse(await this.#child.ask(JSON.stringify(command)));
  }

  async end(): Promise<void> {
    await this.#child.end();
  }
}
