/**
 * Everything about a connection that depends on time, decided on a coarse tick instead of a timer
 * for each: has the peer introduced itself, is it still there, has it nothing to do. Between ticks
 * only a flag is set, so hearing costs nothing.
 */
import type { Budgets } from "./budgets.ts";

export interface TimeoutFacts {
  /** The preface, the first SETTINGS and the acknowledgement of ours have arrived. */
  readonly introduced: boolean;
  readonly headerBlockOpen: boolean;
  readonly openStreams: number;
  /** Moves when something happened between two ticks. */
  readonly lastStreamId: number;
}

export type TimeoutVerdict =
  | "fine"
  /** Ask the peer whether it is there. */
  | "ping"
  /** The client did not answer. */
  | "lost"
  | "idle"
  | "handshake late"
  | "header block late";

export class ConnectionTimeouts {
  readonly #budgets: Budgets;
  readonly #openedAtMs: number;
  #heardAtMs: number;
  #heard = true;
  #pinged = false;
  #busyAtMs: number;
  #lastStreamId = 0;
  #headerBlockSinceMs: number | undefined;

  constructor(budgets: Budgets, nowMs: number) {
    this.#budgets = budgets;
    this.#openedAtMs = nowMs;
    this.#heardAtMs = nowMs;
    this.#busyAtMs = nowMs;
  }

  heard(): void {
    this.#heard = true;
  }

  tick(nowMs: number, facts: TimeoutFacts): TimeoutVerdict {
    const { handshakeTimeoutMs, idleTimeoutMs, keepAliveIntervalMs, keepAliveTimeoutMs } =
      this.#budgets;
    if (this.#heard) {
      this.#heard = false;
      this.#pinged = false;
      this.#heardAtMs = nowMs;
    }
    if (!facts.introduced && nowMs - this.#openedAtMs >= handshakeTimeoutMs) {
      return "handshake late";
    }

    if (!facts.headerBlockOpen) this.#headerBlockSinceMs = undefined;
    else if (nowMs - (this.#headerBlockSinceMs ??= nowMs) >= handshakeTimeoutMs) {
      return "header block late";
    }

    if (facts.openStreams > 0 || facts.lastStreamId !== this.#lastStreamId) this.#busyAtMs = nowMs;
    else if (nowMs - this.#busyAtMs >= idleTimeoutMs) return "idle";
    this.#lastStreamId = facts.lastStreamId;

    const silentMs = nowMs - this.#heardAtMs;
    if (silentMs >= keepAliveIntervalMs + keepAliveTimeoutMs) return "lost";
    if (silentMs >= keepAliveIntervalMs && !this.#pinged) {
      this.#pinged = true;
      return "ping";
    }
    return "fine";
  }
}
