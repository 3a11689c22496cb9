/** Carries out what `silence.ts` decides: timers, connections, the log of the process and its end stand here. */
import { describeFailure, type Log, waits } from "../../server/mod.ts";
import type { Nodes } from "./nodes.ts";
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
  readonly nowMs: () => number;
  readonly log: Log;
  readonly silenceLimits?: Partial<SilenceLimits>;
  readonly nodes: Pick<Nodes, "renew" | "probe">;
  /** Streams that another connection must be able to read before the relay ends. */
  readonly streams: readonly string[];
  readonly sendAgentsAway: () => void;
  readonly end: (why: string) => void;
}

/** How long the oldest write has waited, and why it is refused if it is. */
export type Reading = Pick<Extract<SilenceEvent, { type: "look" }>, "waitingMs" | "refusal">;

export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  readonly #limits: SilenceLimits;
  #state: Silence;
  /** Clients that took the place of a silent one. */
  clients = 0;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#limits = { ...silenceLimits, ...options.silenceLimits };
    this.#state = createSilence(options.nowMs());
  }

  /** Words for what is wrong with the log; undefined while it answers. */
  get words(): string | undefined {
    return wordsOf(this.#state, this.#limits);
  }

  /** To be called about every second. Waits for nothing. */
  look(reading: Reading): void {
    this.#take({ type: "look", nowMs: this.#options.nowMs(), ...reading });
  }

  #take(event: SilenceEvent): void {
    const { state, effects } = step(this.#state, event, this.#limits);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: SilenceEffect): void {
    const { log, nowMs, nodes, streams, sendAgentsAway, end } = this.#options;
    const ms = Math.round(this.#state.silentMs);
    switch (effect) {
      case "open_client":
        log("warn", "node_left", { ms, effect: "another client is opened" });
        this.clients++;
        return void nodes.renew()
          .catch((error: unknown) => log("warn", "node_not_reached", { error: describeFailure(error) }))
          .then(() => this.#take({ type: "client_tried", nowMs: nowMs() }));
      case "probe":
        return void nodes.probe(streams).then(
          () => this.#take({ type: "log_read", nowMs: nowMs(), spreadMs: spreadMs() }),
          (error: unknown) => this.#take({ type: "log_unread", nowMs: nowMs(), why: reasonOf(error) }),
        );
      case "send_agents_away":
        log("warn", "log_silent", { ms, reason: this.words, effect: "agents are sent to other relays" });
        return sendAgentsAway();
      case "end": {
        const why = this.words ?? "";
        log("error", "log_deaf", { ms, reason: why, effect: "this relay ends" });
        return end(why);
      }
    }
  }
}

/** A random part of the time over which relays end. */
function spreadMs(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return waits.logEndSpread.ms * random / 2 ** 32;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
