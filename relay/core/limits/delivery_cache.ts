/**
 * Memory limit of the latest items of all channels together. Each channel keeps some for members
 * that are nearly up to date; with many channels, those that were quiet for longest drop theirs and
 * their readers go to the engine.
 */
import { RecentMap } from "../../../proto/mod.ts";

export interface CachedEntries {
  /** Lets go of everything, and says so through `hold`. */
  dropTail(): void;
}

export class DeliveryCacheBudget {
  readonly #maxBytes: number;
  /** The longest quiet first. */
  readonly #held = new RecentMap<CachedEntries, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** So much is held by this tail now. */
  hold(tail: CachedEntries, bytes: number): void {
    const grown = bytes - (this.#held.get(tail) ?? 0);
    this.#bytes += grown;
    if (bytes > 0) this.#held.set(tail, bytes);
    else this.#held.delete(tail);
    if (grown <= 0) return;
    for (const other of this.#held.keys()) {
      if (this.#bytes <= this.#maxBytes || other === tail) return;
      other.dropTail();
    }
  }
}
