/**
 * Places for attempts to connect that are under way in one process. An attempt costs milliseconds
 * of processor time, and its time limit runs meanwhile. When a relay ends the sessions of hundreds
 * of agents of one process on a busy machine, all of them at once would make each other late: all
 * would give up, and begin anew together, for ever. So only so many have begun, and the limit of
 * each begins with it. Relays have places of their own: one that does not answer holds up nobody
 * who wants another. An attempt that waits for the network gives its place back (`dialer.ts`).
 */
export class DialPlaces {
  readonly #most: number;
  /** Dials to each relay to which somebody connects. */
  readonly #relays = new Map<string, RelayDials>();

  constructor(most = 16) {
    this.#most = most;
  }

  /**
   * Resolves with how to give the place back, once; with undefined when the signal is aborted
   * before there is one. First come, first served.
   */
  take(relay: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const dials = this.#relays.get(relay) ?? { underWay: 0, waiting: new Set() };
    this.#relays.set(relay, dials);
    const giveBack = (): void => this.#giveBack(relay, dials);
    if (dials.underWay < this.#most) {
      dials.underWay++;
      return Promise.resolve(giveBack);
    }
    return new Promise((resolve) => {
      const begin = (): void => {
        signal.removeEventListener("abort", leave);
        resolve(giveBack);
      };
      const leave = (): void => {
        dials.waiting.delete(begin);
        resolve(undefined);
      };
      dials.waiting.add(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** The place goes to the one that waits longest. */
  #giveBack(relay: string, dials: RelayDials): void {
    const [next] = dials.waiting;
    if (next !== undefined) {
      dials.waiting.delete(next);
      next();
    } else if (--dials.underWay === 0) {
      this.#relays.delete(relay);
    }
  }
}

interface RelayDials {
  underWay: number;
  readonly waiting: Set<() => void>;
}
