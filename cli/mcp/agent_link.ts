/**
 * The agent behind a session: connected with the first tool that needs it, so that a server answers
 * at once whatever the network does.
 */
import { quoted } from "../../proto/mod.ts";
import type { Channel } from "../../sdk/mod.ts";
import { afterRefusal, connectAgent } from "../agent.ts";
import { findPlace } from "../agent_record.ts";
import { nearest } from "../arguments/suggest.ts";
import type { Context } from "../command.ts";
import type { CommandAgent } from "../agent_access.ts";
import { refused, type ToolRefusal } from "./refusal.ts";

export class AgentLink {
  readonly #context: Context;
  readonly #channels = new Map<string, Channel>();
  #agent: Promise<CommandAgent> | undefined;
  /** The link whose pass this agent uses, when it is a guest. */
  #guestLink: string | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Throws why it cannot be had; the next call tries again. */
  async agent(): Promise<CommandAgent> {
    this.#agent ??= this.#connect();
    try {
      return await this.#agent;
    } catch (error) {
      this.#agent = undefined;
      throw error;
    }
  }

  async #connect(): Promise<CommandAgent> {
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
    const agent = await this.agent();
    const channel = await agent.enter("open", { channel: name }).catch((error) => {
      throw agent.channels.some((each) => each === name) ? error : notIn(name, agent.channels);
    });
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

function notIn(name: string, channels: readonly string[]): ToolRefusal {
  const meant = nearest(name, channels);
  const all = channels.length === 0 ? "It is in none" : `Its channels: ${channels.join(", ")}`;
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return refused(`This agent is in no channel ${quoted(name)}.${hint} ${all}`);
}
