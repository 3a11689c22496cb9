/**
 * Cover of one session over all its connections: the cover that is asked of the relay, and pauses
 * when a budget, ours or the relay's, is used up. A pause stops cover cells, never messages.
 * Listeners are told of it, and it ends with the budget's period.
 */
import { CoverBudget, type NoticeBody } from "../../proto/mod.ts";
import type { RelayConnection } from "./connection.ts";
import type { Cover, ParsedCover } from "./cover.ts";

export interface CoverKeeperDeps {
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Our own budget is used up; the relay sends a notice about its own. */
  readonly onStopped: (notice: NoticeBody<"CoverStopped">) => void;
}

/** Timers take no more than 2^31 - 1 ms. */
const longestWaitMs = 24 * 60 * 60 * 1000;
const off: Cover = { mode: "off", intervalMs: 0 };
/** One client, one budget. */
const ours = "";

export class CoverKeeper {
  readonly #cover: Cover;
  readonly #budget: CoverBudget | undefined;
  readonly #deps: CoverKeeperDeps;
  #connection: RelayConnection | undefined;
  #spent = 0;
  #cancelOwn: (() => void) | undefined;
  #cancelRelays: (() => void) | undefined;

  constructor({ mode, intervalMs, budget }: ParsedCover, deps: CoverKeeperDeps) {
    this.#cover = { mode, intervalMs };
    this.#budget = budget && new CoverBudget(budget);
    this.#deps = deps;
  }

  /** The cover that a new connection asks the relay for. */
  get wanted(): Cover {
    return this.#cancelOwn === undefined ? this.#cover : off;
  }

  /** A connection has begun; its cells are counted from its first. */
  attach(connection: RelayConnection): void {
    this.#connection = connection;
    this.#spent = 0;
    this.#apply();
  }

  detach(): void {
    this.#connection = undefined;
    this.#cancelRelays?.();
    this.#cancelRelays = undefined;
  }

  /** Nothing more is waited for. */
  close(): void {
    this.detach();
    this.#cancelOwn?.();
    this.#cancelOwn = undefined;
  }

  /** Cells have passed. */
  count(): void {
    if (
      this.#budget === undefined || this.#connection === undefined || this.#cancelOwn !== undefined
    ) return;
    const { coverBytes } = this.#connection;
    const untilMs = this.#budget.spend(ours, coverBytes - this.#spent, this.#deps.nowMs());
    this.#spent = coverBytes;
    if (untilMs === undefined) return;
    this.#pauseOwn(untilMs);
    this.#ask();
    const message =
      "The client's own budget for cover traffic is used up; messages go on without it";
    this.#deps.onStopped({ message, untilMs: Math.round(untilMs) });
  }

  /** The relay has stopped its cover; ours would be paid from the same budget. */
  relayStopped({ untilMs }: NoticeBody<"CoverStopped">, relayNowMs: number): void {
    this.#cancelRelays?.();
    const waitMs = untilMs === undefined ? longestWaitMs : untilMs - relayNowMs;
    this.#cancelRelays = this.#deps.after(Math.min(Math.max(0, waitMs), longestWaitMs), () => {
      this.#cancelRelays = undefined;
      this.#apply();
    });
    this.#apply();
  }

  #pauseOwn(untilMs: number): void {
    const waitMs = Math.min(Math.max(0, untilMs - this.#deps.nowMs()), longestWaitMs);
    this.#cancelOwn = this.#deps.after(waitMs, () => {
      const laterMs = this.#budget?.spend(ours, 0, this.#deps.nowMs());
      if (laterMs !== undefined) return this.#pauseOwn(laterMs);
      this.#cancelOwn = undefined;
      this.#ask();
    });
  }

  #ask(): void {
    this.#apply();
    // A relay that refuses gives no cover of its own; a lost connection is noticed elsewhere.
    this.#connection?.request("ConfigureCover", this.wanted).catch(() => {});
  }

  #apply(): void {
    this.#connection?.setCovering(
      this.#cancelOwn === undefined && this.#cancelRelays === undefined,
    );
  }
}
