/**
 * Makes room in an account whose storage is used up. Closed channels are forgotten at once,
 * although members may not have read them. Then the largest channel drops the entries that it keeps
 * for removed members. Then its oldest messages give way to a gap. So neither a member that never
 * reads nor one that sends too much can stop an account for long. Messages of another account's
 * agent only take the place of messages of the same channel.
 */
import type { AccountId, ChannelId } from "../../../proto/mod.ts";
import type { BackgroundWork } from "../background.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { CoreConfig } from "../config.ts";
import type { CoreDeps } from "../deps.ts";
import type { LoadedChannels } from "../channel/loaded_channels.ts";
import { careForQueue } from "./log_retention.ts";

/** Closed channels of one account that are looked at. */
const closedAtOnce = 1_000;
/** Channels that are cut down one after the other. */
const maxRounds = 8;
/** Not again for so long: after it has helped, and after it has found nothing. */
const restMs = { helped: 1_000, inVain: 10_000 };
const maxResting = 10_000;
/** The part of the account's storage that is free afterwards, if possible. */
const freedShare = 1 / 16;

export interface StorageReclaimerParts {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  readonly channels: LoadedChannels;
  readonly background: BackgroundWork;
}

export interface SpaceNeed {
  /** Disk space that the account may take. */
  readonly accountBytes: number;
  /** Whether messages may go for it: not for what only makes the account larger. */
  readonly dropsMessages: boolean;
  /** The only channel that may lose some. */
  readonly within?: ChannelId | undefined;
}

export class StorageReclaimer {
  readonly #parts: StorageReclaimerParts;
  /** Until when nothing begins. */
  readonly #resting = new Map<string, number>();

  constructor(parts: StorageReclaimerParts) {
    this.#parts = parts;
  }

  /** In the background, once at a time for each account. */
  begin(account: AccountId, need: SpaceNeed): void {
    const { deps: { nowMs }, background } = this.#parts;
    // Whatever is in the way may ask at any rate.
    const key = `${account} ${need.within ?? need.dropsMessages}`;
    if ((this.#resting.get(key) ?? 0) > nowMs()) return;
    if (this.#resting.size >= maxResting) this.#resting.clear();
    this.#resting.set(key, Infinity);
    background.run("relief", async () => {
      const helped = await this.#relieve(account, need).catch((error: unknown) => {
        this.#resting.delete(key);
        throw error;
      });
      this.#resting.set(key, nowMs() + (helped ? restMs.helped : restMs.inVain));
    });
  }

  /** Whether the account has room now. */
  async #relieve(account: AccountId, need: SpaceNeed): Promise<boolean> {
    const wanted = need.accountBytes * (1 - freedShare);
    const isFull = async (): Promise<boolean> =>
      await this.#parts.deps.engine.accountBytes(account) > wanted;
    await this.#makeRoom(account, need, isFull);
    return !await isFull();
  }

  async #makeRoom(
    account: AccountId,
    need: SpaceNeed,
    isFull: () => Promise<boolean>,
  ): Promise<void> {
    const { engine } = this.#parts.deps;
    for (const channelId of await engine.closedChannels({ account, limit: closedAtOnce })) {
      if (!await isFull()) return;
      if (this.#parts.channels.release(channelId)) await engine.purge(channelId);
    }
    for (let round = 0; need.dropsMessages && round < maxRounds && await isFull(); round++) {
      const largest = need.within ?? await engine.largestChannel(account);
      const channel = largest && await this.#parts.channels.open(largest);
      if (channel === undefined || !await this.#cut(channel, isFull)) return;
    }
  }

  /** Whether there was something to cut. */
  async #cut(channel: LoadedChannel, isFull: () => Promise<boolean>): Promise<boolean> {
    const { config, deps } = this.#parts;
    channel.full = true;
    await careForQueue(channel, config, deps);
    if (channel.queueBytes === 0 || !await isFull()) return false;
    const limits = { ...config.limits, queueBytesPerChannel: Math.floor(channel.queueBytes / 2) };
    await careForQueue(channel, { ...config, limits }, deps);
    return true;
  }
}
