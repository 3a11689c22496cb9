/** Listeners for new entries. A listener that throws is reported and harms nobody else. */
import type { ChannelId } from "../../proto/mod.ts";
import type { Entry } from "./engine.ts";

export type EntryListener = (entry: Entry) => void;

export class Watchers {
  readonly #listeners = new Map<ChannelId, Set<{ readonly listener: EntryListener }>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(channelId: ChannelId, listener: EntryListener): () => void {
    const listeners = this.#listeners.get(channelId) ?? new Set();
    this.#listeners.set(channelId, listeners);
    // An object of its own, so that the same function may watch twice.
    const watcher = { listener };
    listeners.add(watcher);
    return () => {
      listeners.delete(watcher);
      if (listeners.size === 0 && this.#listeners.get(channelId) === listeners) {
        this.#listeners.delete(channelId);
      }
    };
  }

  tell(channelId: ChannelId, entry: Entry): void {
    const listeners = this.#listeners.get(channelId);
    if (listeners === undefined) return;
    // A copy: a listener added because of this entry gets the next one; a removed listener gets
    // nothing more.
    for (const watcher of [...listeners]) {
      if (!listeners.has(watcher)) continue;
      try {
        watcher.listener(entry);
      } catch (error) {
        // Not in this turn: whatever the report does, the others are told.
        queueMicrotask(() => this.#onError(error));
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
