/**
 * The channels in memory: each loaded once however many ask at the same time, and dropped when
 * nobody needs it.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import type { CoreConfig } from "../config.ts";
import { ConfirmationBudget } from "../limits/confirmation_budget.ts";
import { DeliveryCacheBudget } from "../limits/delivery_cache.ts";
import { type ChannelHost, LoadedChannel } from "./channel.ts";

/** Not dropped before this long after its last use: its user may be waiting for the engine. */
const restMs = 60_000;

export class LoadedChannels {
  readonly #host: ChannelHost;
  readonly #loaded = new Map<ChannelId, LoadedChannel>();
  readonly #loading = new Map<ChannelId, Promise<LoadedChannel | undefined>>();

  constructor(
    config: CoreConfig,
    parts: Omit<ChannelHost, "tails" | "unreadTails" | "confirmations">,
  ) {
    this.#host = {
      ...parts,
      tails: new DeliveryCacheBudget(config.tailBytesInAll),
      unreadTails: new DeliveryCacheBudget(config.unreadTailBytesInAll),
      confirmations: new ConfirmationBudget(),
    };
  }

  get size(): number {
    return this.#loaded.size;
  }

  [Symbol.iterator](): IterableIterator<LoadedChannel> {
    return this.#loaded.values();
  }

  isLoaded(channelId: ChannelId): boolean {
    return this.#loaded.has(channelId);
  }

  /** Undefined when it is not in memory. */
  loaded(channelId: ChannelId): LoadedChannel | undefined {
    return this.#loaded.get(channelId);
  }

  /** Returns undefined when there is no such channel. */
  open(channelId: ChannelId): LoadedChannel | Promise<LoadedChannel | undefined> {
    const channel = this.#loaded.get(channelId);
    if (channel === undefined) return this.#loading.get(channelId) ?? this.#load(channelId);
    channel.lastUsedMs = this.#host.nowMs();
    return channel;
  }

  /**
   * Returns the channels that nobody reads and nobody used lately, the longest unused first, beyond
   * `keep`.
   */
  idle(keep: number): LoadedChannel[] {
    const idle = [...this].filter((channel) => this.isIdle(channel));
    return idle.sort((a, b) => a.lastUsedMs - b.lastUsedMs).slice(
      0,
      Math.max(0, idle.length - keep),
    );
  }

  isIdle({ subscriptions, lastUsedMs }: LoadedChannel): boolean {
    return subscriptions.size === 0 && lastUsedMs < this.#host.nowMs() - restMs;
  }

  /**
   * Lets go of a channel that nobody reads, although it may be in use; returns whether nobody reads
   * it.
   */
  release(channelId: ChannelId): boolean {
    const channel = this.#loaded.get(channelId);
    if (channel === undefined) return !this.#loading.has(channelId);
    if (channel.subscriptions.size > 0) return false;
    this.drop(channel);
    return true;
  }

  drop(channel: LoadedChannel): void {
    channel.unload();
    this.#loaded.delete(channel.channelId);
  }

  #load(channelId: ChannelId): Promise<LoadedChannel | undefined> {
    const loading = this.#read(channelId).finally(() => this.#loading.delete(channelId));
    this.#loading.set(channelId, loading);
    return loading;
  }

  async #read(channelId: ChannelId): Promise<LoadedChannel | undefined> {
    const record = await this.#host.engine.findChannel(channelId);
    if (record === undefined) return undefined;
    const channel = await LoadedChannel.load(record, this.#host);
    this.#loaded.set(channelId, channel);
    return channel;
  }
}
