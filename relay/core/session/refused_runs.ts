/**
 * Messages of which an earlier one was refused and will come again: they must not overtake it. A
 * client numbers what it sends until it has heard of a refusal as one run. So everything with that
 * number was sent before, and is refused as well, however long it waits in the relay. The first
 * message of a higher run ends the refusal.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import type { Refusal } from "../refusal.ts";

interface RefusedRun {
  readonly run: number;
  readonly refusal: Refusal;
}

/** A message of a run that is in the relay. */
export interface MessageInRun {
  readonly channelId: ChannelId;
  readonly run: number;
  /** An earlier one was refused, so this one must not be stored. */
  refusal: Refusal | undefined;
}

/**
 * The most channels with a refusal: as many as a session reads by default. Beyond so many channels,
 * the refusal that is oldest is forgotten.
 */
export const refusedChannels = 1_000;

export class RefusedRuns {
  /** The newest refusal last. */
  readonly #runs = new Map<ChannelId, RefusedRun>();
  /** In the order in which they came. */
  readonly #inRelay = new Set<MessageInRun>();

  add(channelId: ChannelId, run: number, refusal: Refusal): void {
    // One of an earlier run that comes late says nothing about the later one.
    if ((this.#runs.get(channelId)?.run ?? 0) > run) return;
    this.#runs.delete(channelId);
    this.#runs.set(channelId, { run, refusal });
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > refusedChannels && oldest !== undefined) this.#runs.delete(oldest);
  }

  /** Until `leave`. */
  enter(channelId: ChannelId, run: number): MessageInRun {
    const message: MessageInRun = { channelId, run, refusal: undefined };
    this.#inRelay.add(message);
    return message;
  }

  leave(message: MessageInRun): void {
    this.#inRelay.delete(message);
  }

  /** Like `add`, and for all of its run that came after it and are in the relay. */
  refuse(message: MessageInRun, refusal: Refusal): void {
    const { channelId, run } = message;
    this.add(channelId, run, refusal);
    let isBehind = false;
    for (const other of this.#inRelay) {
      if (isBehind && other.channelId === channelId && other.run <= run) other.refusal ??= refusal;
      isBehind ||= other === message;
    }
  }

  /**
   * Why a message of this run is refused. Asked in the order in which messages came: behind a
   * higher run no lower one comes.
   */
  refusalOf(channelId: ChannelId, run: number): Refusal | undefined {
    const refused = this.#runs.get(channelId);
    if (refused === undefined) return undefined;
    if (run <= refused.run) return refused.refusal;
    this.#runs.delete(channelId);
    return undefined;
  }
}
