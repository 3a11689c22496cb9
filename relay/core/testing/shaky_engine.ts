/**
 * An engine behind a slow and mortal relay: every call may wait, before it takes effect and before
 * it is answered. After `kill` nothing takes effect or answers any more, as if the process had
 * died. Calls that reached the real engine keep their effect.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import type { ChannelRecord, Engine, LeaseBook, NewChannel, Records } from "../../engine/engine.ts";
import { createKeyPackagePools } from "../../engine/key_package_pools.ts";

export interface ShakyOptions {
  readonly after: (ms: number, run: () => void) => unknown;
  /** How long the next wait takes; undefined for none. */
  readonly delayMs: () => number | undefined;
  /** Hears of a new channel before the relay does. */
  readonly onCreated: (channel: NewChannel) => void;
}

export interface ShakyEngine extends Engine {
  kill(): void;
}

/** KeyPackages are the relay's memory: a new one starts without any. */
export function createShakyEngine(real: Engine, options: ShakyOptions): ShakyEngine {
  const life = new Life(options);
  const { read, write } = life;
  return {
    createChannel: (channel) =>
      read(async () => {
        const outcome = await real.createChannel(channel);
        if (outcome.kind === "created") options.onCreated(channel);
        return outcome;
      }),
    findChannel: (channelId): Promise<ChannelRecord | undefined> =>
      read(() => real.findChannel(channelId)),
    listChannels: (query) => read(() => real.listChannels(query)),
    listJoining: (query) => read(() => real.listJoining(query)),
    joining: (query) => read(() => real.joining(query)),
    isListed: (agentId) => read(() => real.isListed(agentId)),
    agedChannels: (query) => read(() => real.agedChannels(query)),
    append: (channelId, entry) => write(channelId, () => real.append(channelId, entry)),
    read: (channelId, from) => read(() => real.read(channelId, from)),
    findKey: (channelId, key) => read(() => real.findKey(channelId, key)),
    findCommit: (channelId, epoch) => read(() => real.findCommit(channelId, epoch)),
    watch: (channelId, listener) =>
      real.watch(channelId, (entry) => life.isAlive && listener(entry)),
    saveSnapshot: (channelId, snapshot) =>
      write(channelId, () => real.saveSnapshot(channelId, snapshot)),
    cursors: (channelId) => read(() => real.cursors(channelId)),
    moveCursors: (channelId, moves) => write(channelId, () => real.moveCursors(channelId, moves)),
    dropCursor: (channelId, agentId) => write(channelId, () => real.dropCursor(channelId, agentId)),
    queueSize: (channelId) => read(() => real.queueSize(channelId)),
    trim: (channelId, through) => write(channelId, () => real.trim(channelId, through)),
    dropMessages: (channelId, through, reason) =>
      write(channelId, () => real.dropMessages(channelId, through, reason)),
    forget: (before) => read(() => real.forget(before)),
    purge: (channelId) => read(() => real.purge(channelId)),
    accountBytes: (account) => read(() => real.accountBytes(account)),
    closedChannels: (query) => read(() => real.closedChannels(query)),
    largestChannel: (account) => read(() => real.largestChannel(account)),
    backUp: (path, timeMs) => read(() => real.backUp(path, timeMs)),
    wipe: (timeMs) => read(() => real.wipe(timeMs)),
    storage: () => real.storage(),
    diskMs: () => real.diskMs(),
    records: shakyRecords(real.records, life),
    leases: shakyLeases(real.leases, life),
    keyPackages: createKeyPackagePools(),
    close: () => real.close(),
    kill: () => life.end(),
  };
}

function shakyRecords(records: Records, { read }: Life): Records {
  return {
    get: (key) => read(() => records.get(key)),
    put: (key, record, revision) => read(() => records.put(key, record, revision)),
    delete: (key) => read(() => records.delete(key)),
    ofChannel: (channelId) => read(() => records.ofChannel(channelId)),
    expire: (nowMs) => read(() => records.expire(nowMs)),
  };
}

function shakyLeases(leases: LeaseBook, { read }: Life): LeaseBook {
  return {
    open: (lease) => read(() => leases.open(lease)),
    list: () => read(() => leases.list()),
    stop: (leaseId) => read(() => leases.stop(leaseId)),
    forget: (leaseId) => read(() => leases.forget(leaseId)),
  };
}

const never = new Promise<never>(() => {});

class Life {
  readonly #options: ShakyOptions;
  /** The last write to a channel has reached the engine when this resolves. */
  readonly #order = new Map<ChannelId, Promise<void>>();
  #alive = true;

  constructor(options: ShakyOptions) {
    this.#options = options;
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  end(): void {
    this.#alive = false;
  }

  readonly read = async <T>(work: () => Promise<T>): Promise<T> => {
    await this.#pause();
    if (!this.#alive) return await never;
    const result = await work();
    await this.#pause();
    return this.#alive ? result : await never;
  };

  /**
   * Writes to one channel take effect in the order in which they were asked for, as the contract of
   * engines says.
   */
  readonly write = async <T>(channelId: ChannelId, work: () => Promise<T>): Promise<T> => {
    const before = this.#order.get(channelId);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#order.set(channelId, promise);
    if (before !== undefined) await before;
    return await this.read(() => {
      const working = work();
      resolve();
      return working;
    });
  };

  #pause(): Promise<void> | undefined {
    const ms = this.#options.delayMs();
    if (ms === undefined) return undefined;
    return new Promise((resolve) => this.#options.after(ms, resolve));
  }
}
