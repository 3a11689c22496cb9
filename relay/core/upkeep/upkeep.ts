/**
 * Periodic work: one timer cares for the queues of the channels that changed, another for things
 * that grow old, in memory and in the engine.
 */
import type { CoreLimits } from "../limits/limits.ts";
import type { BackgroundWork } from "../background.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { CoreConfig } from "../config.ts";
import type { CoreDeps } from "../deps.ts";
import type { LoadedChannels } from "../channel/loaded_channels.ts";
import { careForQueue, saveSnapshot, writeCursors } from "./log_retention.ts";

const careMs = 1_000;
const upkeepMs = 60_000;
/**
 * A closed channel that everybody has read stays for those who ask for the same again: it was
 * closed, it was created.
 */
const closedMs = 60 * 60 * 1000;
/** Deleted bytes are out of the engine's files after so long. */
const wipeMs = 20 * 60 * 1000;
/** Idle channels with old messages that one round of upkeep looks at. */
const agedAtOnce = 100;

export interface UpkeepParts {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  readonly channels: LoadedChannels;
  readonly background: BackgroundWork;
  readonly limits: Pick<CoreLimits, "allowances">;
}

export class Upkeep {
  readonly #parts: UpkeepParts;
  /** Channels whose queue wants care at the next round. */
  readonly #touched = new Set<LoadedChannel>();
  #cancelCare: (() => void) | undefined;
  #cancelUpkeep: () => void;
  /** A round is under way: with many channels it may take longer than from one to the next. */
  #tending = false;
  #wipedMs = 0;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#cancelUpkeep = parts.deps.after(upkeepMs, () => this.#upkeep());
  }

  /** Something about this channel changed that its queue must be cared for soon. */
  touch(channel: LoadedChannel): void {
    this.#touched.add(channel);
    this.#cancelCare ??= this.#parts.deps.after(careMs, () => this.#care());
  }

  /**
   * Stops the timers, waits for all background work, then writes what is not on disk yet and drops
   * every channel.
   */
  async close(): Promise<void> {
    const { background, channels, deps, limits: { allowances } } = this.#parts;
    this.#cancelUpkeep();
    this.#cancelCare?.();
    await background.done();
    background.run("allowances", () => allowances.save(deps.nowMs()));
    await background.done();
    await background.each(
      "close",
      [...channels],
      (channel) => this.#save(channel).finally(() => this.#drop(channel)),
    );
  }

  #care(): void {
    const { background, config, deps } = this.#parts;
    this.#cancelCare = undefined;
    const channels = [...this.#touched];
    this.#touched.clear();
    const care = (channel: LoadedChannel): Promise<void> => careForQueue(channel, config, deps);
    background.run("queue care", () => background.each("queue care", channels, care));
  }

  #upkeep(): void {
    const { background, deps } = this.#parts;
    // Before the work, which may fail: what grows old is looked at again in any case.
    this.#cancelUpkeep = deps.after(upkeepMs, () => this.#upkeep());
    if (this.#tending) return;
    this.#tending = true;
    background.run("upkeep", () => this.#tend().finally(() => this.#tending = false));
  }

  async #tend(): Promise<void> {
    const { background, channels, config, deps: { engine, nowMs }, limits } = this.#parts;
    const { queueAgeMs, lapseAgeMs } = config.limits;
    await engine.keyPackages.expire(nowMs());
    await engine.records.expire(nowMs());
    const ago = (ms: number): number => Math.max(0, nowMs() - ms);
    await engine.forget({
      keysMs: ago(queueAgeMs),
      commitsMs: ago(lapseAgeMs),
      readMs: ago(closedMs),
      closedMs: ago(Math.max(closedMs, queueAgeMs)),
    });
    // A clock that was set back must not keep it from being done.
    if (Math.abs(nowMs() - this.#wipedMs) >= wipeMs && await engine.wipe(nowMs())) {
      this.#wipedMs = nowMs();
    }
    const aged = await engine.agedChannels({ beforeMs: ago(queueAgeMs), limit: agedAtOnce });
    await background.each("upkeep", aged, async (channelId) => {
      const channel = await channels.open(channelId);
      if (channel !== undefined) this.touch(channel);
    });
    await limits.allowances.save(nowMs());
    await background.each("upkeep", channels.idle(config.idleChannels), async (channel) => {
      await this.#save(channel);
      // Not if somebody has come back to it while it was saved.
      if (channels.isIdle(channel)) this.#drop(channel);
    });
  }

  async #save(channel: LoadedChannel): Promise<void> {
    await writeCursors(channel, this.#parts.deps);
    await saveSnapshot(channel, this.#parts.deps);
  }

  #drop(channel: LoadedChannel): void {
    this.#touched.delete(channel);
    this.#parts.channels.drop(channel);
  }
}
