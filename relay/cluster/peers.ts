/**
 * Which relays there are. Each says every second that it is alive, and whether its disk has room
 * for what agents bring. The one whose id comes first does what only one has to do; should two
 * believe it, nothing is done wrongly, only twice. A relay that is silent for long is given up: its
 * sessions end, its late batches are void, and its leases are settled from the log's own counts.
 */
import type { Msg } from "@nats-io/nats-core";
import { describeFailure, every, type Log, waits } from "../../server/mod.ts";
import type { Command } from "./log/command.ts";
import type { Nodes } from "./nodes/nodes.ts";
import type { ReplicaState } from "./replica/replica_state.ts";

export interface PeersOptions {
  readonly nodes: Nodes;
  readonly prefix: string;
  readonly relay: string;
  readonly nowMs: () => number;
  readonly state: ReplicaState;
  readonly write: (command: Command) => Promise<unknown>;
  readonly log: Log;
  /** Relays that hold leases. */
  readonly leaseHolders: () => Promise<readonly string[]>;
  /** Whether this relay takes agents, and has room on its disk. */
  readonly hasRoom: () => boolean;
  /** Silent for so long: given up. A frozen process that wakes later must begin anew. */
  readonly silentMs?: number;
}

const beatMs = 1_000;
const tendMs = 5_000;
const aliveMs = 5_000;
/** Without an own beat that came back for so long, nothing was heard of others either. */
const deafMs = 3_000;

export class Peers {
  readonly #options: PeersOptions;
  readonly #seenMs = new Map<string, number>();
  /** When batches of relays were read. */
  readonly #wroteMs = new Map<string, number>();
  /** When relays that have not begun yet were heard of. */
  readonly #beginningMs = new Map<string, number>();
  /** When relays said that they have room. */
  readonly #roomMs = new Map<string, number>();
  /** Since when this relay hears: it cannot say of others that they were silent before. */
  #hearingMs: number;
  #ownMs: number;
  #hasBegun = false;
  readonly #stops: (() => void)[] = [];
  elections = 0;
  /** Settles the entries that a given-up relay held. Set by the part that can do it. */
  onGivenUp: (relay: string) => Promise<void> = () => Promise.resolve();
  #tending = false;
  #tendedMs = 0;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#hearingMs = this.#ownMs = options.nowMs();
    const { nodes, prefix } = options;
    this.#stops.push(
      nodes.subscribe(`${prefix}.beat`, (message) => this.#heard(message, this.#seenMs)),
      // Of relays that read the log and cannot serve yet: they are neither silent nor any help.
      nodes.subscribe(`${prefix}.begins`, (message) => this.#heard(message, this.#beginningMs)),
      nodes.subscribe(`${prefix}.room`, (message) => this.#heard(message, this.#roomMs)),
      nodes.subscribe(
        `$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.${prefix}_LOG`,
        () => void this.elections++,
      ),
      every(beatMs, () => this.#beat()),
    );
    this.#tell();
  }

  /** This relay has read the log, and serves. */
  begun(): void {
    this.#hasBegun = true;
    this.#tell();
  }

  /**
   * A batch of a relay counts. Its beats may be lost between two nodes while its batches come by
   * way of a third.
   */
  wrote(relay: string): void {
    this.#wroteMs.set(relay, this.#options.nowMs());
  }

  /** Relays that are alive, this one included. */
  get alive(): string[] {
    return [...new Set([this.#options.relay, ...this.#lately(this.#seenMs)])].sort();
  }

  /** Another relay has said of late that it has room. One that says nothing has none. */
  get hasRoomElsewhere(): boolean {
    return this.#lately(this.#roomMs).some((relay) => relay !== this.#options.relay);
  }

  get count(): number {
    return this.alive.length;
  }

  get isCaretaker(): boolean {
    return this.#hasBegun && this.alive[0] === this.#options.relay;
  }

  /**
   * It stores copies of the fold, each of which needs room on its disk for a moment: the first that
   * has some, else the first.
   */
  get isCopier(): boolean {
    const [first = this.alive[0]] = this.#lately(this.#roomMs).sort();
    return this.#hasBegun && first === this.#options.relay;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  async #beat(): Promise<void> {
    const { nodes, log, nowMs } = this.#options;
    if (nodes.connection.isClosed()) return;
    this.#tell();
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

  #tell(): void {
    const { nodes, prefix, relay, hasRoom } = this.#options;
    nodes.connection.publish(this.#hasBegun ? `${prefix}.beat` : `${prefix}.begins`, relay);
    if (this.#hasBegun && hasRoom()) nodes.connection.publish(`${prefix}.room`, relay);
  }

  #lately(told: ReadonlyMap<string, number>): string[] {
    const since = this.#options.nowMs() - aliveMs;
    return [...told].filter(([, toldMs]) => toldMs >= since).map(([relay]) => relay);
  }

  #heard(message: Msg, where: Map<string, number>): void {
    const nowMs = this.#options.nowMs();
    const relay = message.string();
    where.set(relay, nowMs);
    if (relay !== this.#options.relay) return;
    // Its nodes were away, or this process did not run.
    if (nowMs - this.#ownMs > deafMs) this.#hearingMs = nowMs;
    this.#ownMs = nowMs;
  }

  #lastHeardMs(relay: string): number {
    const heard = [this.#seenMs, this.#beginningMs, this.#wroteMs].map((times) =>
      times.get(relay) ?? 0
    );
    return Math.max(this.#hearingMs, ...heard);
  }

  /**
   * Relays that write or have sessions, and have not been heard of. None while this relay hears
   * nothing itself.
   */
  async #silent(): Promise<string[]> {
    const { state, relay, nowMs, leaseHolders } = this.#options;
    if (nowMs() - this.#ownMs > deafMs) return [];
    const known = new Set([
      ...state.sessions.relays(),
      ...[...state.writers].map(([, writer]) => writer.relay),
      ...await leaseHolders(),
    ]);
    known.delete(relay);
    return [...known].filter((id) => this.#isSilent(id));
  }

  #isSilent(relay: string): boolean {
    const { nowMs, silentMs = waits.relaySilent.ms } = this.#options;
    return nowMs() - this.#lastHeardMs(relay) > silentMs;
  }

  async #giveUp(silent: string): Promise<void> {
    const { write, log, state } = this.#options;
    // Settling the one before it may have taken long enough for this one to come back.
    if (!this.#isSilent(silent)) return;
    log("warn", "relay_given_up", { relay: silent });
    await write({ op: "give_up", relay: silent, behind: state.position });
    // Not silent, but on the other side of a cut.
    if ([...state.writers].some(([, { relay }]) => relay === silent)) return;
    await this.onGivenUp(silent);
  }
}
