/**
 * Messages of which an earlier one was refused and will come again: they must not overtake it. A client numbers what it sends
 * until it has heard of a refusal as one run; what is left of that run is refused as well, for as long as the first one was.
 */
import type { ChannelId } from "../../proto/mod.ts";
import type { Refusal } from "./refusal.ts";

interface RefusedRun {
  readonly run: number;
  readonly refusal: Refusal;
  readonly untilMs: number;
}

/** Messages under way arrive within this time, independent of the refusal. */
const shortestMs = 1_000;
/** Beyond so many channels, those that are over are forgotten. */
const manyChannels = 64;

export class RefusedRuns {
  readonly #nowMs: () => number;
  readonly #runs = new Map<ChannelId, RefusedRun>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  add(channelId: ChannelId, run: number, refusal: Refusal): void {
    const nowMs = this.#nowMs();
    if (this.#runs.size >= manyChannels) {
      for (const [known, { untilMs }] of this.#runs) if (untilMs <= nowMs) this.#runs.delete(known);
    }
    const untilMs = nowMs + Math.max(shortestMs, refusal.detail.retryAfterMs ?? 0);
    this.#runs.set(channelId, { run, refusal, untilMs });
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
