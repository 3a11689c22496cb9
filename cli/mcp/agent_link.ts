/** The agent behind a session: connected with the first tool that needs it, so that a server answers at once whatever the network does. */
import { failureInWords } from "../../proto/mod.ts";
import type { Channel } from "../../sdk/mod.ts";
import { afterRefusal, connectAgent } from "../agent.ts";
import { findPlace } from "../agent_record.ts";
import type { Context } from "../command.ts";
import type { Agent } from "../hosting.ts";

export class AgentLink {
  readonly #context: Context;
  readonly #channels = new Map<string, Channel>();
  #agent: Promise<Agent> | undefined;
  /** Of a guest, the link whose pass it uses. */
  #guestLink: string | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Throws why it cannot be had; the next call tries again. */
  async agent(): Promise<Agent> {
    this.#agent ??= this.#connect();
    try {
      return await this.#agent;
    } catch (error) {
      this.#agent = undefined;
      throw error;
    }
  }

  async #connect(): Promise<Agent> {
    this.#guestLink = (await findPlace(this.#context))?.guest?.link;
    return await connectAgent(this.#context, this.#guestLink);
  }

  /** For every failure of a tool: a guest's pass that has no messages left is noted. */
  async noteFailure(error: unknown): Promise<void> {
    await afterRefusal(this.#context, error, this.#guestLink);
  }

  async channel(name: string): Promise<Channel> {
    const known = this.#channels.get(name);
    if (known !== undefined && known.health().state !== "ended") return known;
    const channel = await (await this.agent()).channel(name);
    this.#channels.set(name, channel);
    return channel;
  }

  /** These, or all. */
  async channels(names: readonly string[] | undefined): Promise<Channel[]> {
    const wanted = names ?? (await this.agent()).channels;
    return await Promise.all(wanted.map((name) => this.channel(name)));
  }

  async close(): Promise<void> {
    const agent = await this.#agent?.catch(() => undefined);
    await agent?.close();
  }
}

/** Of an error, for the model: what failed and what to do. */
export function failureText(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  const text = failureInWords(error);
  return typeof code === "string" ? `${code}: ${text}` : text;
}
