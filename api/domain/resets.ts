/**
 * Requests for a reset. They are answered before anybody looks at them, so that neither the answer
 * nor its time tells whether an address has an account, and worked on one at a time. Those that
 * wait are bounded and fair between clients; one that finds no place is dropped.
 */
import type { AccountLifecycle } from "./account_lifecycle.ts";
import { networkOf, Places } from "../../server/limits/mod.ts";
import type { RateLimiter } from "./rate_limit.ts";

export interface ResetRequest {
  readonly email: string;
  readonly address: string;
}

export interface ResetsDeps {
  /** How many may wait. */
  readonly places: number;
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number;
  readonly askReset: AccountLifecycle["askReset"];
  /**
   * Requests of a client, whatever comes of them. No answer shows what is left, and no other limit
   * takes of it.
   */
  readonly clients: RateLimiter;
  /** Nobody else hears of it. */
  readonly onDropped: (
    reason: "too many wait" | "too many of its client" | "failed" | "the service stops",
    error?: unknown,
  ) => void;
}

export interface Resets {
  ask(request: ResetRequest): Promise<void>;
  /**
   * Drops all that wait, because a database that is away could hold each of them up, and waits for
   * the one under way.
   */
  stop(): Promise<void>;
}

export function createResets(
  { places: total, elapsedMs, askReset, clients, onDropped }: ResetsDeps,
): Resets {
  // Nobody is told when to come again.
  const places = new Places<ResetRequest>({ total, minimumMs: 0, random: () => 0 });
  let working: Promise<void> | undefined;

  const work = async ({ email }: ResetRequest): Promise<void> => {
    try {
      await askReset(email);
    } catch (error) {
      onDropped("failed", error);
    }
  };
  const workOff = async (): Promise<void> => {
    for (let next = places.next(elapsedMs()); next !== undefined; next = places.next(elapsedMs())) {
      await work(next.holder);
    }
    working = undefined;
  };
  return {
    ask: async (request) => {
      const taken = clients.take(request.address);
      const { allowed } = taken instanceof Promise ? await taken : taken;
      if (!allowed) return onDropped("too many of its client");
      const newcomer = {
        party: networkOf(request.address),
        holder: request,
        standing: "unfinished",
      } as const;
      const entered = places.enter(newcomer, elapsedMs());
      if (entered.kind === "refused" || entered.displaced !== undefined) onDropped("too many wait");
      working ??= workOff();
    },
    stop: async () => {
      while (places.next(elapsedMs()) !== undefined) onDropped("the service stops");
      await working;
    },
  };
}
