/**
 * Events for listeners, from the moment they start to listen. Each listener has a bounded buffer: a
 * slow one loses the oldest events, is told how many, and does not hold up others.
 */

import { Serial } from "./serial.ts";

/** Events that a slow listener has not been told. */
export interface MissedEvents {
  /** The kind of event. */
  readonly type: "missed";
  /** How many. */
  readonly count: number;
}

interface BufferedListener<Event> {
  waiting: (Event | MissedEvents)[];
  missed: number;
  wake: () => void;
}

export const maxWaitingEvents = 256;

export class EventStream<Event> {
  readonly #listeners = new Set<BufferedListener<Event>>();
  #ended = false;

  tell(event: Event): void {
    for (const listener of this.#listeners) {
      if (listener.waiting.length >= maxWaitingEvents) {
        listener.waiting.shift();
        listener.missed++;
      }
      listener.waiting.push(event);
      listener.wake();
    }
  }

  /** Listeners get what is waiting, then the end. */
  end(): void {
    this.#ended = true;
    for (const { wake } of this.#listeners) wake();
  }

  /**
   * From now on, also before the first one is asked for. Ends quietly when the signal is aborted.
   */
  listen(signal?: AbortSignal): AsyncIterableIterator<Event | MissedEvents, undefined> {
    const listener: BufferedListener<Event> = { waiting: [], missed: 0, wake: () => {} };
    let closed = signal?.aborted ?? false;
    const close = (): void => {
      closed = true;
      this.#listeners.delete(listener);
      signal?.removeEventListener("abort", close);
      listener.wake();
    };
    signal?.addEventListener("abort", close);
    if (!closed) this.#listeners.add(listener);
    const done = { done: true, value: undefined } as const;
    const next = async (): Promise<IteratorResult<Event | MissedEvents, undefined>> => {
      for (;;) {
        if (closed) return done;
        const count = listener.missed;
        listener.missed = 0;
        if (count > 0) return { done: false, value: { type: "missed", count } };
        const event = listener.waiting.shift();
        if (event !== undefined) return { done: false, value: event };
        if (this.#ended) close();
        else await new Promise<void>((resolve) => listener.wake = resolve);
      }
    };
    const calls = new Serial();
    return {
      next: () => calls.run(next),
      return: () => {
        close();
        return Promise.resolve(done);
      },
      [Symbol.asyncIterator](): AsyncIterableIterator<Event | MissedEvents, undefined> {
        return this;
      },
    };
  }
}
