/**
 * Makes room in an account whose storage is used up. Closed channels are forgotten at once, although somebody may not have read
 * them; then the largest channel lets go of what it keeps for those who were removed; then its oldest messages give way to a
 * gap. So neither a member that never reads nor one that sends too much can stop an account for long.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { Background } from "./background.ts";
import type { Channel } from "./channel.ts";
import type { CoreConfig } from "./config.ts";
import type { CoreDeps } from "./deps.ts";
import type { LoadedChannels } from "./loaded_channels.ts";
import { careForQueue } from "./queue_care.ts";

/** Closed channels of one account that are looked at. */
const closedAtOnce = 1_000;
/** Channels that are cut down one after the other. */
const maxRounds = 8;
/** Of the account's storage: so much is free afterwards, if possible. */
const freedShare = 1 / 16;

export interface ReliefParts {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  readonly channels: LoadedChannels;
  readonly background: Background;
}

export interface Need {
  /** What the account may take. */
  readonly accountBytes: number;
  /** Whether messages may go for it: not for what only makes the account larger. */
  readonly dropsMessages: boolean;
}

export class Relief {
  readonly #parts: ReliefParts;
  readonly #underWay = new Set<AccountId>();

  constructor(parts: ReliefParts) {
    this.#parts = parts;
  }

  /** In the background, once at a time for each account. */
  begin(account: AccountId, need: Need): void {
    if (this.#underWay.has(account)) return;
    this.#underWay.add(account);
    this.#parts.background.run("relief", () => {
      return this.#relieve(account, need).finally(() => this.#underWay.delete(account));
    });
  }

  async #relieve(account: AccountId, { accountBytes, dropsMessages }: Need): Promise<void> {
    const { engine } = this.#parts.deps;
    const wanted = accountBytes * (1 - freedShare);
    const isFull = async (): Promise<boolean> => await engine.accountBytes(account) > wanted;
    for (const channelId of await engine.closedChannels({ account, limit: closedAtOnce })) {
      if (!await isFull()) return;
      if (this.#parts.channels.release(channelId)) await engine.purge(channelId);
    }
    for (let round = 0; dropsMessages && round < maxRounds && await isFull(); round++) {
      const largest = await engine.largestChannel(account);
      const channel = largest && await this.#parts.channels.open(largest);
      if (channel === undefined || !await this.#cut(channel, isFull)) return;
    }
  }

  /** Whether there was something to cut. */
  async #cut(channel: Channel, isFull: () => Promise<boolean>): Promise<boolean> {
    const { config, deps } = this.#parts;
    channel.full = true;
    await careForQueue(channel, config, deps);
    if (channel.queueBytes === 0 || !await isFull()) return false;
    const limits = { ...config.limits, queueBytesPerChannel: Math.floor(channel.queueBytes / 2) };
    await careForQueue(channel, { ...config, limits }, deps);
    return true;
  }
}
