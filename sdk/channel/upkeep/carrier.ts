/**
 * Statements about one channel that are carried in the messages of another. They reveal a relay
 * that keeps the halves of a channel apart, if the halves share a second channel. A message carries
 * one statement, in its padding. Only members of the channel in question get it, because it names a
 * member.
 */
import {
  type AgentId,
  carryConfirmation,
  type ChannelId,
  type Confirmation,
  decodeConfirmation,
  WireError,
} from "../../../proto/mod.ts";

/** A channel, as far as words about it go. */
export interface CarriedChannel {
  readonly channelId: ChannelId;
  /** Our own word about its present epoch. */
  readonly own: Confirmation | undefined;
  /** Whether all of these are its members. */
  areMembers(agentIds: ReadonlyMap<AgentId, unknown>): boolean;
  /** A member's own word about it. */
  carried(agentId: AgentId, confirmation: Confirmation): void;
}

/** A plaintext with a word beside it. */
export interface PlaintextWithWord {
  readonly plaintext: Uint8Array;
  /** Called when the message is on its way. */
  readonly done: () => void;
}

/** Where a message is about to be sent. */
export interface Destination {
  readonly channelId: ChannelId;
  readonly members: () => ReadonlyMap<AgentId, unknown>;
}

interface OpenChannel {
  readonly rooms: { readonly confirmations: CarriedChannel };
}

/** Channels that are open, by their ids. */
type OpenChannels = ReadonlyMap<ChannelId, OpenChannel>;

/** The same word is given again in the same channel, for those that came later. */
const againMs = 10 * 60_000;
/** Channels that are looked at for one message: an agent may have many. */
const tries = 4;
/** Pairs of channels that are remembered. */
const maxSaid = 4096;

export class Carrier {
  readonly #channels: OpenChannels;
  readonly #nowMs: () => number;
  #turns: Iterator<OpenChannel> | undefined;
  /** The last statement about a channel that was sent in another channel. */
  readonly #said = new Map<string, { readonly epoch: number; readonly atMs: number }>();

  constructor(channels: OpenChannels, nowMs: () => number) {
    this.#channels = channels;
    this.#nowMs = nowMs;
  }

  /**
   * Returns a message that is about to be sealed with a word beside it, or undefined when nothing
   * is to be said there.
   */
  carry(plaintext: Uint8Array, to: Destination): PlaintextWithWord | undefined {
    for (let left = tries; left > 0; left--) {
      const about = this.#next();
      if (about === undefined) return undefined;
      const own = about.channelId === to.channelId ? undefined : about.own;
      if (own === undefined || !this.#isDue(own, to) || !about.areMembers(to.members())) continue;
      const fuller = carryConfirmation(plaintext, own);
      return fuller && { plaintext: fuller, done: () => this.#note(own, to) };
    }
    return undefined;
  }

  /** A member's word that came with its message. One that cannot be read says nothing. */
  take(sender: AgentId, bytes: Uint8Array): void {
    const confirmation = readOrIgnore(bytes);
    if (confirmation !== undefined) {
      this.#channels.get(confirmation.channelId)?.rooms.confirmations.carried(sender, confirmation);
    }
  }

  #isDue({ channelId, epoch }: Confirmation, to: Destination): boolean {
    const said = this.#said.get(`${channelId} ${to.channelId}`);
    return said?.epoch !== epoch || this.#nowMs() - said.atMs >= againMs;
  }

  #note({ channelId, epoch }: Confirmation, to: Destination): void {
    if (this.#said.size >= maxSaid) this.#said.clear();
    this.#said.set(`${channelId} ${to.channelId}`, { epoch, atMs: this.#nowMs() });
  }

  #next(): CarriedChannel | undefined {
    const next = this.#turns?.next();
    if (next !== undefined && next.done !== true) return next.value.rooms.confirmations;
    this.#turns = this.#channels.values();
    const first = this.#turns.next();
    return first.done === true ? undefined : first.value.rooms.confirmations;
  }
}

function readOrIgnore(bytes: Uint8Array): Confirmation | undefined {
  try {
    return decodeConfirmation(bytes);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
