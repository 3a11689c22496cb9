/**
 * Statements that may ride to a client in cells that leave anyway. Its subscriptions take turns:
 * one with many statements does not hold up the others.
 */
import type { LoadedChannel } from "../channel/channel.ts";
import type { Subscription } from "../channel/subscription.ts";

interface PiggybackSource {
  readonly channel: LoadedChannel;
  readonly subscription: Subscription;
}

/** Subscriptions that are asked per cell: a session may have a thousand. */
const tries = 4;

export class PiggybackedStatements {
  readonly #subscriptions: { readonly size: number; values(): Iterator<PiggybackSource> };
  #turns: Iterator<PiggybackSource> | undefined;

  constructor(subscriptions: { readonly size: number; values(): Iterator<PiggybackSource> }) {
    this.#subscriptions = subscriptions;
  }

  /** At most so many bytes. */
  next(room: number): Uint8Array | undefined {
    for (let left = Math.min(tries, this.#subscriptions.size); left > 0; left--) {
      const held = this.#nextTurn();
      const rider = held?.channel.rider(held.subscription, room);
      if (rider !== undefined) return rider;
    }
    return undefined;
  }

  #nextTurn(): PiggybackSource | undefined {
    const next = this.#turns?.next();
    if (next !== undefined && next.done !== true) return next.value;
    this.#turns = this.#subscriptions.values();
    const first = this.#turns.next();
    return first.done === true ? undefined : first.value;
  }
}
