/**
 * Carries out what `silence.ts` decides: timers, connections, the log of the process and its end
 * stand here.
 */
import { describeFailure, type Log, type LogFields, waits } from "../../../server/mod.ts";
import { ProbeError } from "../nodes/nodes.ts";
import {
  createSilence,
  type Silence,
  type SilenceEffect,
  type SilenceEvent,
  type SilenceLimits,
  silenceLimits,
  step,
  wordsOf,
} from "./silence.ts";

export interface SilenceWatchOptions {
  /** The name by which operators know it, with its article. */
  readonly what: string;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly silenceLimits?: Partial<SilenceLimits>;
  /** Puts a new client in the place of the one at hand. */
  readonly renew: () => Promise<void>;
  /** Without it the silence is told, and costs new clients and nothing else. */
  readonly lastResort?: LastResort;
}

/** The last resort for a log without which a relay is of no use. */
export interface LastResort {
  /**
   * Rejects when a new process could not use the log either, with a `ProbeError` where the reason
   * is known.
   */
  readonly probe: () => Promise<void>;
  readonly sendAgentsAway: () => void;
  readonly end: (why: string) => void;
}

export interface SilenceReading {
  /** How long the oldest write has waited. */
  readonly waitingMs: number;
  /** The words with which the nodes refuse it. */
  readonly refusal: string | undefined;
}

export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  readonly #limits: SilenceLimits;
  #state: Silence;
  /** The last reason of this silence that was told to the log of the process. */
  #told = "";
  /** Clients that took the place of a silent one. */
  clients = 0;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    const patient = options.lastResort === undefined ? { awayMs: Infinity, endMs: Infinity } : {};
    this.#limits = { ...silenceLimits, ...options.silenceLimits, ...patient };
    this.#state = createSilence(options.nowMs());
  }

  /** Words for what is wrong with the log; undefined while it answers. */
  get words(): string | undefined {
    return wordsOf(this.#state, this.#options.what, this.#limits);
  }

  /** The log has been silent for so long that a new client was asked for. */
  get isSilent(): boolean {
    return this.#state.silentMs >= this.#limits.clientMs;
  }

  /** To be called about every second. Waits for nothing. */
  look({ waitingMs, refusal }: SilenceReading): void {
    if (!this.isSilent) this.#told = "";
    if (refusal !== undefined) this.#tell("log_refused", { reason: refusal });
    this.#take({
      type: "look",
      nowMs: this.#options.nowMs(),
      waitingMs,
      isRefused: refusal !== undefined,
    });
  }

  #take(event: SilenceEvent): void {
    const { state, effects } = step(this.#state, event, this.#limits);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: SilenceEffect): void {
    const { what, log, lastResort } = this.#options;
    const ms = Math.round(this.#state.silentMs);
    switch (effect) {
      case "open_client":
        log("warn", "node_left", { what, ms, effect: "another client is opened" });
        return void this.#renew();
      case "probe":
        return void this.#probe();
      case "send_agents_away":
        log("warn", "log_silent", {
          ms,
          reason: this.words,
          effect: "agents are sent to other relays",
        });
        return lastResort?.sendAgentsAway();
      case "end": {
        const why = this.words ?? "";
        log("error", "log_deaf", { ms, reason: why, effect: "this relay ends" });
        return lastResort?.end(why);
      }
    }
  }

  async #renew(): Promise<void> {
    const { renew, log, nowMs } = this.#options;
    try {
      await renew();
      this.clients++;
    } catch (error) {
      log("warn", "node_not_reached", { error: describeFailure(error) });
    }
    this.#take({ type: "client_tried", nowMs: nowMs() });
  }

  async #probe(): Promise<void> {
    const { lastResort, nowMs } = this.#options;
    try {
      await lastResort?.probe();
      this.#take({ type: "probe_worked", spreadMs: spreadMs() });
    } catch (error) {
      this.#tell("log_unusable", { error: describeFailure(error) });
      const why = error instanceof ProbeError ? error.message : "nobody knows why";
      this.#take({ type: "probe_failed", nowMs: nowMs(), why });
    }
  }

  /** Only what differs from the last: it is asked again and again. */
  #tell(event: string, reason: LogFields): void {
    const told = JSON.stringify([event, reason]);
    if (told !== this.#told) {
      this.#options.log("warn", event, { what: this.#options.what, ...reason });
    }
    this.#told = told;
  }
}

/** A random part of the time over which relays end. */
function spreadMs(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return waits.logEndSpread.ms * random / 2 ** 32;
}
