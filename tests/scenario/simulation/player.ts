/**
 * An actor of a schedule: what it is told and asks passes through the schedule's relay, and what it
 * reads is checked.
 */
import {
  type AgentId,
  type CallName,
  equalBytes,
  type MessageId,
  type NoticeEnvelope,
} from "../../../proto/mod.ts";
import type { Channel } from "../../../sdk/mod.ts";
import type { Inside, MemoryDisk } from "../../../sdk/testing/agents.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { Actor, type ActorHost, issueCount, name } from "../../support/scenario/stage.ts";
import type { Truth } from "./truth.ts";

type Leaf = NonNullable<ReturnType<Inside["group"]["current"]["tree"]["leaf"]>>;

/** Members and the epoch that an honest player was in when the ledger looked last. */
export interface Seen {
  readonly epoch: number;
  readonly members: ReadonlySet<AgentId>;
}

/** A message as a reader was shown it. */
export interface Shown {
  readonly text: string;
  readonly id: MessageId;
  readonly sender: AgentId;
  /** Its place, as the reader believes. */
  readonly sequence: number;
}

export type Forward = (changed?: unknown) => Promise<unknown>;

/** The connection between a player and the relay's core. */
export interface Wire {
  readonly counts: { readonly lies: number };
  /**
   * Returns why a message should not have been shown, if so. `before`: the place of the one before
   * it.
   */
  judge(player: Player, shown: Shown, before: number): string | undefined;
  notice(player: Player, notice: NoticeEnvelope): readonly NoticeEnvelope[];
  call(player: Player, operation: CallName, body: unknown, forward: Forward): Promise<unknown>;
}

/**
 * A copy of the disk, with the leaf that the player had then, the members that it knew, and how
 * often it had asked to come back.
 */
interface Saved {
  readonly disk: MemoryDisk;
  readonly leaf: Uint8Array;
  readonly known: ReadonlySet<AgentId>;
  readonly returns: number;
}

export class Player {
  readonly honest: boolean;
  readonly actor: Actor;
  /** It comes by guest links alone, and with a guest pass. */
  comesAsGuest = false;
  /**
   * The epoch since which it is a guest of the group, whichever key it uses by now; undefined when
   * an owner has made it one of them, and without end when an owner has been asked to make it a
   * member like the others.
   */
  guestSince: number | undefined;
  channel: Channel | undefined;
  /** It is leaving, or has left: nothing is expected of it until it joins again. */
  excused = false;
  /** Its group as the ledger saw it last. */
  seen: Seen | undefined;
  /** Where its membership began when it was last in step. */
  cameIn: number | undefined;
  /**
   * Where a membership began that it had given up when it joined anew, and that the log still had.
   */
  formerPlace: number | undefined;
  /** The epoch of a true removal of it that it was shown, while it may still follow that. */
  removedIn: number | undefined;
  /** The channel that ended for it while it was no member. */
  rightlyOver: Channel | undefined;
  /** A background join is under way. */
  joining = false;
  saved: Saved | undefined;
  /** How often it has asked to come back. */
  #returns = 0;
  /** Messages that must not be shown: sealed by somebody whose removal this player had followed. */
  readonly forbidden = new Set<string>();
  /**
   * Messages that the relay gave it at a place where their sender was a member, as far as it knew.
   */
  readonly given = new Set<string>();
  readonly shown: string[] = [];
  /** Kinds of trouble that its `health()` has told of, in any of its processes. */
  readonly told = new Set<string>();
  readonly #wire: Wire;
  /** Of the channel that it had last. */
  #epoch = 0;
  #mayRead = 0;
  #wake: () => void = () => {};
  #reading = 0;

  constructor(
    host: ActorHost,
    label: string,
    { honest, wire }: { readonly honest: boolean; readonly wire: Wire },
  ) {
    this.actor = new Actor(host, label, 1);
    this.honest = honest;
    this.#wire = wire;
  }

  get label(): string {
    return this.actor.label;
  }

  get agentId(): AgentId {
    return this.actor.client.agentId;
  }

  /** It still uses the pass that it came with. */
  get hasPass(): boolean {
    return this.comesAsGuest && this.actor.key.grant !== undefined;
  }

  get isIn(): boolean {
    return this.actor.client.channels.includes(name);
  }

  get tampering(): Tampering {
    return {
      notice: (notice) => this.#wire.notice(this, notice),
      call: (operation, body, forward) => {
        if (operation === "RequestRejoin") this.#returns++;
        return this.#wire.call(this, operation, body, forward);
      },
    };
  }

  /** It is on its way in, and expected to stay then. */
  async joins(truth: Truth, joining: Promise<void>): Promise<void> {
    this.formerPlace = truth.cameIn(this.agentId);
    // The channel that it knew is another membership's.
    this.#endReading();
    this.joining = true;
    this.excused = false;
    this.cameIn = this.removedIn = this.seen = undefined;
    try {
      await joining;
    } finally {
      this.joining = false;
    }
  }

  async start(truth: Truth): Promise<void> {
    await this.actor.start(this.tampering);
    if (this.isIn) await this.enter(truth);
  }

  async restart(truth: Truth, how: "stop" | "crash"): Promise<void> {
    this.#endReading();
    if (how === "stop") await this.actor.stop();
    await (how === "stop" ? this.actor.start(this.tampering) : this.actor.crash(this.tampering));
    if (this.isIn) await this.enter(truth);
  }

  async stop(): Promise<void> {
    this.#endReading();
    await this.actor.stop();
  }

  async backup(truth: Truth): Promise<void> {
    const [leaf, { known }] = [(await this.leaf()).encoded, this];
    this.#endReading();
    this.saved = {
      disk: await this.actor.backup(this.tampering),
      leaf,
      known,
      returns: this.#returns,
    };
    await this.enter(truth);
  }

  /** The disk is copied while the process works on it. */
  async copyDisk(): Promise<void> {
    const copied = { disk: this.actor.copyDisk(), known: this.known, returns: this.#returns };
    this.saved = { ...copied, leaf: (await this.leaf()).encoded };
  }

  /**
   * Leaves; if that fails, it is expected to be as before, unless the relay has taken it and the
   * reply was lost.
   */
  async leave(truth: Truth): Promise<void> {
    const { excused } = this;
    this.excused = true;
    try {
      await this.channel?.leave();
    } catch (error) {
      this.excused = excused || truth.hasLeft(this.agentId);
      throw error;
    }
  }

  /** The channel is over for it, as the relay says: its application opens it again. */
  get isOver(): boolean {
    return this.isIn && this.channel?.health().state === "ended";
  }

  /**
   * The disk is put back. Not when the player could not know its present leaf: then it needs a new
   * invite.
   */
  async restore(truth: Truth): Promise<boolean> {
    const { saved } = this;
    const { encoded, node } = await this.leaf();
    if (saved === undefined) return false;
    const isSame = equalBytes(encoded, saved.leaf);
    if (!isSame && node.leafNodeSource !== "commit") return false;
    // It has asked to come back since then, and nobody has answered: the leaf that it is given yet
    // is none of the disk's.
    if (isSame && saved.returns !== this.#returns) return false;
    this.#endReading();
    this.seen = undefined;
    await this.actor.restore(saved.disk, this.tampering);
    await this.enter(truth);
    return true;
  }

  /** The last epoch that it was in, as far as its process has shown. */
  get epoch(): number {
    return this.channel?.health().epoch ?? this.#epoch;
  }

  /** Members, as it believes. */
  get known(): ReadonlySet<AgentId> {
    return new Set(this.channel?.members().map(({ agentId }) => agentId));
  }

  /** Its own, as it believes. */
  async leaf(): Promise<Leaf> {
    const { tree, ownLeaf } = (await this.actor.inside()).group.current;
    const leaf = tree.leaf(ownLeaf);
    if (leaf === undefined) throw new Error("a member has a leaf");
    return leaf;
  }

  /** The channel was created, joined or opened: reads it, as far as it may. */
  async enter(truth: Truth): Promise<void> {
    this.#endReading();
    const channel = await this.actor.channel();
    this.channel = channel;
    this.#read(channel, truth, this.#reading).catch((error) => {
      if (error instanceof WrongMessage) this.wrong ??= error;
    });
  }

  /** The first message that should not have been shown. */
  wrong: WrongMessage | undefined;

  /** So many more messages are asked for. */
  read(messages: number): void {
    this.#mayRead += messages;
    this.#wake();
  }

  #endReading(): void {
    this.#epoch = this.epoch;
    this.#reading++;
    this.channel = undefined;
    this.#wake();
  }

  /**
   * A relay that insists on another order of the log is reported (docs/guarantees.md); nobody can
   * do more.
   */
  #isToldOf(late: number, channel: Channel): boolean {
    return this.#wire.counts.lies > 0 && issueCount(channel, "reordered") >= late;
  }

  async #read(channel: Channel, truth: Truth, reading: number): Promise<void> {
    const seen = new Set<string>();
    const last = new Map<AgentId, number>();
    let [late, place] = [0, 0];
    const reader = channel.envelopes();
    while (reading === this.#reading) {
      if (this.#mayRead === 0) {
        await new Promise<void>((resolve) => this.#wake = resolve);
        continue;
      }
      const { done, value } = await reader.next();
      if (done === true || reading !== this.#reading) return;
      this.#mayRead--;
      const text = new TextDecoder().decode(value.payload);
      const sealed = truth.sealed(text);
      const { agentId } = value.sender;
      const wrong = (why: string): WrongMessage =>
        new WrongMessage(`${this.label} was shown "${text}" ${why}`);
      if (sealed === undefined) throw wrong("that nobody sent");
      if (sealed.sender !== agentId) throw wrong("under another sender's name");
      if (seen.has(text)) throw wrong("twice");
      if (this.forbidden.has(text)) throw wrong("of a member that was removed before");
      if (
        sealed.honest && sealed.index < (last.get(agentId) ?? -1) &&
        !this.#isToldOf(++late, channel)
      ) {
        throw wrong("after a later one of its sender");
      }
      const { id, sequence } = value;
      const why = this.#wire.judge(this, { text, id, sequence, sender: agentId }, place);
      if (why !== undefined) throw wrong(why);
      place = sequence;
      seen.add(text);
      last.set(agentId, Math.max(sealed.index, last.get(agentId) ?? -1));
      this.shown.push(text);
    }
  }
}

export class WrongMessage extends Error {}
