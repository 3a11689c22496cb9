/**
 * Messages of which an earlier one was refused and will come again: they must not overtake it. A client numbers what it sends
 * until it has heard of a refusal as one run; what is left of that run is refused as well, for as long as the first one was. A
 * message that is in the relay already, behind the first one, is refused whenever its turn comes.
 */
import type { ChannelId } from "../../proto/mod.ts";
import type { Refusal } from "./refusal.ts";

interface RefusedRun {
  readonly run: number;
  readonly refusal: Refusal;
  readonly untilMs: number;
}

/** A message of a run that is in the relay. */
export interface MessageInRun {
  readonly channelId: ChannelId;
  readonly run: number;
  /** An earlier one was refused, so this one must not be stored. */
  refusal: Refusal | undefined;
}

/** Messages under way arrive within this time, independent of the refusal. */
const shortestMs = 1_000;
/** Beyond so many channels, those that are over are forgotten. */
const manyChannels = 64;

export class RefusedRuns {
  readonly #nowMs: () => number;
  readonly #runs = new Map<ChannelId, RefusedRun>();
  /** In the order in which they came. */
  readonly #inRelay = new Set<MessageInRun>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  add(channelId: ChannelId, run: number, refusal: Refusal): void {
    const nowMs = this.#nowMs();
    const known = this.#runs.get(channelId);
    // One of an earlier run that comes late says nothing about the later one.
    if (known !== undefined && known.run > run && nowMs < known.untilMs) return;
    if (this.#runs.size >= manyChannels) {
      for (const [known, { untilMs }] of this.#runs) if (untilMs <= nowMs) this.#runs.delete(known);
    }
    const untilMs = nowMs + Math.max(shortestMs, refusal.detail.retryAfterMs ?? 0);
    this.#runs.set(channelId, { run, refusal, untilMs });
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

  /** Why a message of this run is refused. */
  refusalOf(channelId: ChannelId, run: number): Refusal | undefined {
    const refused = this.#runs.get(channelId);
    if (refused === undefined) return undefined;
    if (run <= refused.run && this.#nowMs() < refused.untilMs) return refused.refusal;
    this.#runs.delete(channelId);
    return undefined;
  }
}
