/**
 * Which relays there are. Each says every second that it is alive, whether its disk has room for
 * what agents bring, and how many sessions it has. The one whose id comes first does what only one
 * has to do; should two believe it, nothing is done wrongly, only twice. A relay that is silent for
 * long is given up: its sessions end, its late batches are void, and its leases are settled from
 * the log's own counts.
 */
import type { Msg } from "@nats-io/nats-core";
import { type RelayLoad, unknownLoad } from "../core/relay_load.ts";
import { describeFailure, every, type Log, waits } from "../../server/mod.ts";
import type { LogCommand } from "./log/command.ts";
import type { Nodes } from "./nodes/nodes.ts";
import { decodeLoad, encodeLoad } from "./peer_load.ts";
import type { ReplicaState } from "./replica/replica_state.ts";

export interface PeersOptions {
  readonly nodes: Nodes;
  readonly prefix: string;
  readonly relay: string;
  readonly nowMs: () => number;
  readonly state: ReplicaState;
  readonly write: (command: LogCommand) => Promise<unknown>;
  readonly log: Log;
  /** Relays that hold leases. */
  readonly leaseHolders: () => Promise<readonly string[]>;
  /** Returns the load of this relay; undefined before it serves. */
  readonly load: () => RelayLoad | undefined;
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
  /** The last words of relays, and when they came. */
  readonly #loads = new Map<string, { readonly load: RelayLoad; readonly toldMs: number }>();
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
      // Relays send this while they read the log and cannot serve yet: they are neither silent nor
      // any help.
      nodes.subscribe(`${prefix}.begins`, (message) => {
        this.#heard(message, this.#beginningMs);
        this.#loads.delete(message.string());
      }),
      nodes.subscribe(`${prefix}.load`, (message) => this.#heardLoad(message)),
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
    return this.#withRoom().some((relay) => relay !== this.#options.relay);
  }

  /**
   * The loads of the other relays that are alive. A relay that has said nothing of its load yet is
   * not steady.
   */
  get others(): readonly RelayLoad[] {
    return this.alive.filter((relay) => relay !== this.#options.relay).map((relay) =>
      this.#loads.get(relay)?.load ?? unknownLoad
    );
  }

  get count(): number {
    return this.alive.length;
  }

  get isCaretaker(): boolean {
    return this.#hasBegun && this.alive[0] === this.#options.relay;
  }

  /**
   * This relay stores copies of the fold, each of which needs room on its disk for a moment: the
   * copier is the first relay that has some, else the first.
   */
  get isCopier(): boolean {
    const [first = this.alive[0]] = this.#withRoom().sort();
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
    const { nodes, prefix, relay, load } = this.#options;
    const told = this.#hasBegun ? load() : undefined;
    if (told !== undefined) nodes.connection.publish(`${prefix}.load`, encodeLoad(relay, told));
    nodes.connection.publish(this.#hasBegun ? `${prefix}.beat` : `${prefix}.begins`, relay);
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
    // This relay's nodes were away, or this process did not run.
    if (nowMs - this.#ownMs > deafMs) this.#hearingMs = nowMs;
    this.#ownMs = nowMs;
  }

  #heardLoad(message: Msg): void {
    const found = decodeLoad(message.data);
    if (found === undefined) return;
    this.#loads.set(found.relay, { load: found.load, toldMs: this.#options.nowMs() });
  }

  /** Returns the relays that said of late that they have room. */
  #withRoom(): string[] {
    const since = this.#options.nowMs() - aliveMs;
    return [...this.#loads].filter(([, { load, toldMs }]) => load.hasRoom && toldMs >= since)
      .map(([relay]) => relay);
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
