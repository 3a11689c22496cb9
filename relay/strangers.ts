/**
 * Connections and sessions that have not proved who they are: few in all, by the rule of fair
 * places. Each port counts its own, so that a crowd at one leaves the other free.
 */
import type { ErrorCode } from "../proto/mod.ts";
import { networkOf, Places } from "../server/limits/mod.ts";
import type { EndReason } from "./core/client_link.ts";

/** How long a stranger is safe: a login takes less on any line that is of use. */
const minimumMs = 3_000;

/** Ends that are the relay's own doing: its load, its limits, its disk, its faults. */
const ownEnds: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "overloaded",
  "rate_limited",
  "relay_draining",
  "storage_full",
  "internal",
]);

export type EndStranger = (reason: EndReason) => void;

export interface Stranger {
  /** The stranger has proved who it is, or was never meant to. */
  known(): void;
  /**
   * If it was not known before, it has left its login unfinished, unless the relay ended it for a
   * reason of its own.
   */
  gone(reason: EndReason | undefined): void;
}

export class Strangers {
  readonly #places: Places<EndStranger>;
  readonly #nowMs: () => number;
  #refused = 0;

  /** `nowMs` never goes back. */
  constructor(total: number, nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#places = new Places({ total, minimumMs, random: Math.random });
  }

  get size(): number {
    return this.#places.size;
  }

  /** Strangers that were refused or displaced. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * `end` is called when somebody else needs the place more. Returns why not, when there is none.
   */
  admit(address: string, end: EndStranger): Stranger | { readonly refused: EndReason } {
    const party = networkOf(address);
    const entered = this.#places.enter(
      { party, holder: end, standing: "unfinished" },
      this.#nowMs(),
    );
    if (entered.kind === "refused") {
      this.#refused++;
      return { refused: overloaded(entered.retryAfterMs) };
    }
    if (entered.displaced !== undefined) {
      this.#refused++;
      entered.displaced.holder(overloaded(minimumMs));
    }
    const leave = (outcome: "finished" | "unfinished"): void =>
      this.#places.leave(entered.place, outcome, this.#nowMs());
    return {
      known: () => leave("finished"),
      gone: (reason) =>
        leave(reason !== undefined && ownEnds.has(reason.code) ? "finished" : "unfinished"),
    };
  }
}

function overloaded(retryAfterMs: number): EndReason {
  const message = "Too many sessions have not authenticated yet: try again in some seconds";
  return { code: "overloaded", message, retryAfterMs };
}
