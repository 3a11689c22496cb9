/**
 * Sends sessions away: not all at once, and not all back at once, because the relay that takes them
 * over has to greet each of them.
 */
import type { CoreDeps } from "../deps.ts";
import type { Session } from "./session.ts";

/** The longest time that a client waits before it comes back, and the shortest. */
export const longestRetryMs = 5_000;
export const shortestRetryMs = 500;
const turnMs = 20;
const leastAtOnce = 10;

export class SessionDrain {
  readonly #drainMs: number;
  readonly #after: CoreDeps["after"];
  #cancel: () => void = () => {};

  constructor(drainMs: number, after: CoreDeps["after"]) {
    this.#drainMs = drainMs;
    this.#after = after;
  }

  /** In place of one that is under way. */
  begin(sessions: readonly Session[], message: string): void {
    this.#cancel();
    this.#end(sessions, {
      from: 0,
      atOnce: Math.ceil(sessions.length * turnMs / this.#drainMs),
      message,
    });
  }

  /** The same without waiting. */
  finish(sessions: readonly Session[], message: string): void {
    this.#cancel();
    this.#end(sessions, { from: 0, atOnce: sessions.length, message });
  }

  #end(
    sessions: readonly Session[],
    { from, atOnce, message }: {
      readonly from: number;
      readonly atOnce: number;
      readonly message: string;
    },
  ): void {
    const until = from + Math.max(leastAtOnce, atOnce);
    sessions.slice(from, until).forEach((session, index) => {
      const late = (from + index) / sessions.length;
      const retryAfterMs = Math.round(shortestRetryMs + late * (longestRetryMs - shortestRetryMs));
      session.end({ code: "relay_draining", message, retryAfterMs });
    });
    if (until >= sessions.length) return;
    this.#cancel = this.#after(turnMs, () => this.#end(sessions, { from: until, atOnce, message }));
  }
}
