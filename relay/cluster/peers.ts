/**
 * Which relays there are. Each says every second that it is alive. The one whose id comes first does what only one has to do;
 * should two believe it, nothing is done wrongly, only twice. A relay that is silent for long is given up: its sessions end, its
 * late batches are void, and its leases are settled from the log's own counts.
 */
import type { NatsConnection } from "@nats-io/nats-core";
import { describeFailure, every, type Log } from "../../server/mod.ts";
import type { Command } from "./command.ts";
import type { ReplicaState } from "./replica_state.ts";

export interface PeersOptions {
  readonly connection: NatsConnection;
  readonly prefix: string;
  readonly relay: string;
  readonly nowMs: () => number;
  readonly state: ReplicaState;
  readonly write: (command: Command) => Promise<unknown>;
  readonly log: Log;
  /** Relays that hold leases. */
  readonly leaseHolders: () => Promise<readonly string[]>;
}

const beatMs = 1_000;
const tendMs = 5_000;
const aliveMs = 5_000;
/** Silent for so long: given up. A frozen process that wakes later must begin anew. */
const givenUpMs = 30_000;

export class Peers {
  readonly #options: PeersOptions;
  readonly #seenMs = new Map<string, number>();
  readonly #startedMs: number;
  readonly #stops: (() => void)[] = [];
  elections = 0;
  /** Settles the entries that a given-up relay held. Set by the part that can do it. */
  onGivenUp: (relay: string) => Promise<void> = () => Promise.resolve();
  #tending = false;
  #tendedMs = 0;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#startedMs = options.nowMs();
    const { connection, prefix, relay } = options;
    const beats = connection.subscribe(`${prefix}.beat`, {
      callback: (error, message) => {
        if (error === null) this.#seenMs.set(message.string(), options.nowMs());
      },
    });
    const elected = connection.subscribe(`$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.${prefix}_LOG`, {
      callback: () => void this.elections++,
    });
    connection.publish(`${prefix}.beat`, relay);
    this.#stops.push(() => beats.unsubscribe(), () => elected.unsubscribe());
    this.#stops.push(every(beatMs, () => this.#beat()));
  }

  /** Relays that are alive, this one included. */
  get alive(): string[] {
    const { relay, nowMs } = this.#options;
    const since = nowMs() - aliveMs;
    const others = [...this.#seenMs].filter(([, seenMs]) => seenMs >= since).map(([id]) => id);
    return [...new Set([relay, ...others])].sort();
  }

  get count(): number {
    return this.alive.length;
  }

  get isCaretaker(): boolean {
    return this.alive[0] === this.#options.relay;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  async #beat(): Promise<void> {
    const { connection, prefix, relay, log, nowMs } = this.#options;
    if (connection.isClosed()) return;
    connection.publish(`${prefix}.beat`, relay);
    if (this.#tending || !this.isCaretaker || nowMs() - this.#tendedMs < tendMs) return;
    this.#tending = true;
    this.#tendedMs = nowMs();
    try {
      for (const silent of await this.#silent()) await this.#giveUp(silent);
    } catch (error) {
      log("warn", "relay_not_given_up", { error: describeFailure(error) });
    } finally {
      this.#tending = false;
    }
  }

  /** Relays that write or have sessions, and have not been heard of. */
  async #silent(): Promise<string[]> {
    const { state, relay, nowMs, leaseHolders } = this.#options;
    const known = new Set([
      ...state.sessions.relays(),
      ...[...state.writers].map(([, writer]) => writer.relay),
      ...await leaseHolders(),
    ]);
    known.delete(relay);
    return [...known].filter((id) => nowMs() - (this.#seenMs.get(id) ?? this.#startedMs) > givenUpMs);
  }

  async #giveUp(silent: string): Promise<void> {
    const { write, log } = this.#options;
    log("warn", "relay_given_up", { relay: silent });
    await write({ op: "give_up", relay: silent });
    await this.onGivenUp(silent);
  }
}
