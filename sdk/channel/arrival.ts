/**
 * The entries in front of the commit at which a channel is stopped. An agent that comes back is given those that it has not read
 * once more, and a founding passes over what has not arrived: so an owner waits for them before it begins anew.
 */
import { pause, type Runtime } from "../base/runtime.ts";

/** For the next entry. */
const entryMs = 30_000;
/** A relay that hands them out one by one must not keep the channel stopped. */
const maxWaits = 10;

export class Arrival {
  #isOver = false;
  #events = 0;
  readonly #waiting = new Set<AbortController>();

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The log is to be read anew, and may be another one: entries come again. */
  begin(): void {
    this.#isOver = false;
    this.#events++;
  }

  /** One of them is here, or is on its way. */
  next(): void {
    this.#events++;
  }

  /** All of them are here, or the channel is not stopped any more. */
  end(): void {
    this.#isOver = true;
    for (const waiting of this.#waiting) waiting.abort();
  }

  /** Resolves at the end, or when nothing comes any more. `isAsking`: the relay has not said yet where they begin. */
  async wait(isAsking: () => boolean, runtime: Runtime, ended: AbortSignal): Promise<void> {
    for (let waits = 0; !this.#isOver && !ended.aborted && waits < maxWaits; waits++) {
      const before = this.#events;
      const waiting = new AbortController();
      this.#waiting.add(waiting);
      await pause(runtime, entryMs, AbortSignal.any([ended, waiting.signal]));
      this.#waiting.delete(waiting);
      if (this.#events === before && !isAsking()) return;
    }
  }
}
