/**
 * One agent that many programs use: its channels' readers, those that serve requests, and what
 * `status` tells.
 */
import type { Channel } from "../../api/channel.ts";
import type { StaticError } from "../../base/errors.ts";
import type { Agent } from "../../channel/agent.ts";
import { toStaticError } from "../../channel/faults.ts";
import { ChannelManager } from "../../api/manager.ts";
import type { AgentHandle } from "./agent_handle.ts";
import { createReaderRecords } from "./reader_records.ts";
import type { ReaderState } from "./reader_entry.ts";
import { Readers } from "./readers.ts";
import { ServedChannels } from "./serving.ts";

export class SharedAgent {
  readonly manager: ChannelManager;
  readonly #agent: Agent;
  readonly #served = new ServedChannels();
  /** Readers by the channel's id. */
  readonly #readers = new Map<string, Readers>();

  private constructor(agent: Agent, manager: ChannelManager) {
    this.#agent = agent;
    this.manager = manager;
  }

  static async over(agent: Agent): Promise<SharedAgent> {
    return new SharedAgent(agent, await ChannelManager.over(agent));
  }

  /** Returns a handle for one program. Its end is not the agent's. */
  hold(): AgentHandle {
    return {
      client: this.manager.client,
      isShared: true,
      manager: this.manager,
      served: this.#served,
      read: (channel, options) => this.readersOf(channel).open(options),
      acknowledge: (channel, as, place) => this.readersOf(channel).pass(place, as),
      close: () => Promise.resolve(),
    };
  }

  readersOf(channel: Channel): Readers {
    const known = this.#readers.get(channel.id);
    if (known !== undefined && !known.isOver) return known;
    const { store, runtime } = this.#agent.parts;
    const readers = new Readers({
      agentId: this.#agent.agentId,
      records: createReaderRecords(channel.id, store),
      source: () => channel.envelopes({ ack: "manual", all: true, forReaders: true }),
      runtime,
    });
    this.#readers.set(channel.id, readers);
    return readers;
  }

  async listReaders(
    names: readonly string[],
  ): Promise<(ReaderState & { readonly channel: string })[]> {
    const lists = names.map(async (name) => {
      const readers = await this.readersOf(await this.manager.channel(name)).list();
      return readers.map((each) => ({ channel: name, ...each }));
    });
    return (await Promise.all(lists)).flat();
  }

  /**
   * Resolves when its disk has refused a write: this agent can do nothing more, the next one on its
   * directory may.
   */
  get failed(): Promise<StaticError> {
    return this.#agent.parts.store.failed.then((fault) =>
      toStaticError(fault, "The agent stopped")
    );
  }

  /** The user's files are others: the list of known agents, or this agent's badges. */
  async filesChanged(): Promise<void> {
    this.#agent.namesChanged();
    await this.#agent.badgesGiven();
  }

  /** Messages that programs have left here to be sent. */
  get unsent(): number {
    return this.#agent.unsent;
  }

  /**
   * Also when the positions of a channel's readers cannot be written; then it rejects at the end.
   */
  async close(): Promise<void> {
    const stopped = await Promise.allSettled(
      Array.from(this.#readers.values(), (readers) => readers.stop()),
    );
    await this.manager.close();
    for (const each of stopped) if (each.status === "rejected") throw each.reason;
  }
}
