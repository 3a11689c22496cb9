/**
 * Which of several relays is tried first. Relays of one service share one log, so any of them will
 * do: the order is drawn by chance, so that agents spread, and a relay that was lost or refused
 * comes after all others for a while. The ways to one relay have the order in which they serve
 * best; one on which it was too busy comes last, because each port has places of its own.
 */
import type { RelayRoute } from "../transport/endpoint.ts";

export interface RelayChoiceDeps {
  readonly nowMs: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** A way that failed while another one to the same relay worked is tried last for this long. */
const demotionMs = 10 * 60 * 1000;
/**
 * A relay that was lost or cannot be reached comes last for this long: about as long as its machine
 * takes to be back.
 */
const restMs = 30_000;
/** A relay that refuses may name a longer time, up to this. */
const maxRestMs = 10 * 60 * 1000;

export class RelayChoice {
  readonly #ways: readonly RelayRoute[];
  readonly #deps: RelayChoiceDeps;
  readonly #relays: readonly number[];
  readonly #demotedUntilMs = new Map<RelayRoute, number>();
  readonly #restsUntilMs = new Map<number, number>();
  /** Ways on which a relay was busy since it last worked, in that order. */
  readonly #busy = new Set<RelayRoute>();

  constructor(ways: readonly RelayRoute[], deps: RelayChoiceDeps) {
    this.#ways = ways;
    this.#deps = deps;
    this.#relays = [...new Set(ways.map(({ relay }) => relay))];
  }

  /**
   * Whether a relay is left that was neither lost nor refused of late: it can be tried without
   * waiting.
   */
  get hasFresh(): boolean {
    return this.#relays.length > 1 && this.#relays.some((relay) => !this.#rests(relay));
  }

  /** Every way once, those of one relay side by side. */
  round(): readonly RelayRoute[] {
    const isDemoted = (way: RelayRoute): number =>
      Number((this.#demotedUntilMs.get(way) ?? 0) > this.#deps.nowMs());
    const busy = [...this.#busy];
    const rank = (way: RelayRoute): number =>
      isDemoted(way) * (busy.length + 1) + busy.indexOf(way);
    return this.#order().flatMap((relay) =>
      this.#ways.filter((way) => way.relay === relay).sort((a, b) => rank(a) - rank(b))
    );
  }

  /** `failed` were tried before it in this round. */
  worked(way: RelayRoute, failed: Iterable<RelayRoute>): void {
    this.#restsUntilMs.delete(way.relay);
    for (const other of this.#busy) if (other.relay === way.relay) this.#busy.delete(other);
    for (const other of failed) {
      if (other.relay === way.relay) {
        this.#demotedUntilMs.set(other, this.#deps.nowMs() + demotionMs);
      }
    }
  }

  /** The relay had no place for one that came this way. */
  wasBusy(way: RelayRoute): void {
    this.#busy.delete(way);
    this.#busy.add(way);
  }

  /** Lets a relay rest that was lost, cannot be reached, or asks for this time. */
  rest({ relay }: RelayRoute, namedMs = 0): void {
    if (this.#relays.length === 1) return;
    this.#restsUntilMs.set(
      relay,
      this.#deps.nowMs() + Math.min(Math.max(restMs, namedMs), maxRestMs),
    );
  }

  #rests(relay: number): boolean {
    return (this.#restsUntilMs.get(relay) ?? 0) > this.#deps.nowMs();
  }

  /** Returns the order of relays. Those that rest come last, the longest rested first. */
  #order(): readonly number[] {
    if (this.#relays.length === 1) return this.#relays;
    const resting = this.#relays.filter((relay) => this.#rests(relay));
    const fresh = this.#relays.filter((relay) => !this.#rests(relay));
    const until = (relay: number): number => this.#restsUntilMs.get(relay) ?? 0;
    return [...this.#shuffled(fresh), ...resting.sort((a, b) => until(a) - until(b))];
  }

  /** Fisher and Yates: every order is as likely as any other. */
  #shuffled(relays: readonly number[]): number[] {
    const order = [...relays];
    for (let last = order.length - 1; last > 0; last--) {
      const other = Math.floor(this.#deps.random() * (last + 1));
      const [a = 0, b = 0] = [order[last], order[other]];
      [order[last], order[other]] = [b, a];
    }
    return order;
  }
}
