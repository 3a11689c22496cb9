/**
 * A log item with the notice that it becomes, and the Welcomes that it carries. Both are made once,
 * when the first member needs them, and shared by all: a fan-out to a hundred members costs one
 * encoding.
 */
import { type AgentId, type ChannelId, encodeNotice } from "../../../proto/mod.ts";
import type { Entry, Gap, LogItem } from "../../engine/engine.ts";
import {
  decodeCommitBody,
  decodeFoundingBody,
  decodeLeaveBody,
  decodeMessageBody,
  decodeWelcomeBody,
} from "./entry_body.ts";

export interface CarriedWelcome {
  readonly welcome: Uint8Array;
  /** The one into which it welcomes. */
  readonly epoch: number;
  /** The state of that epoch, as the commit that carries the Welcome declares it. */
  readonly state: Uint8Array | undefined;
  /** The notices that recipients are sent, by their joining, which is the same for most. */
  readonly notices: Map<number, Uint8Array>;
}

export class DeliverableItem {
  readonly item: LogItem;
  readonly #channelId: ChannelId;
  #notice: Uint8Array | undefined;
  #welcomes: ReadonlyMap<AgentId, CarriedWelcome> | undefined;

  constructor(channelId: ChannelId, item: LogItem) {
    this.#channelId = channelId;
    this.item = item;
  }

  /** The last sequence that it stands for. */
  get lastSequence(): number {
    return this.item.kind === "gap" ? this.item.lastSequence : this.item.sequence;
  }

  /** Memory that it takes, roughly. */
  get bytes(): number {
    return this.item.kind === "gap" ? 64 : this.item.body.length + 200;
  }

  /** Nobody is delivered what it sent itself, and Welcomes have their own way. */
  isFor(agentId: AgentId): boolean {
    switch (this.item.kind) {
      case "gap":
        return true;
      case "message":
      case "commit":
      case "founding":
      case "leave":
      case "lapse":
        return this.item.sender !== agentId;
      case "welcome":
      case "close":
        return false;
    }
  }

  get notice(): Uint8Array {
    return this.#notice ??= this.#encode();
  }

  /** The Welcomes that the entry carries, by recipient. */
  get welcomes(): ReadonlyMap<AgentId, CarriedWelcome> {
    return this.#welcomes ??= readWelcomes(this.item);
  }

  #encode(): Uint8Array {
    const { item } = this;
    const channelId = this.#channelId;
    switch (item.kind) {
      case "message":
        return encodeNotice("DeliverMessage", {
          ...placeOf(channelId, item),
          sender: item.sender,
          ...decodeMessageBody(item),
        });
      case "commit": {
        const { commit, added, removed, owners, signature, generation, state, nextState } =
          decodeCommitBody(item);
        const signed = signature && state && nextState && { signature, state, nextState };
        const declared = {
          commit,
          added,
          removed,
          ...(owners && { owners }),
          ...signed,
          generation,
        };
        return encodeNotice("DeliverCommit", {
          ...placeOf(channelId, item),
          sender: item.sender,
          ...declared,
        });
      }
      case "founding":
        return encodeNotice("DeliverFounding", {
          ...decodeFoundingBody(item),
          ...placeOf(channelId, item),
          sender: item.sender,
        });
      case "leave":
        return encodeNotice("DeliverLeave", {
          ...placeOf(channelId, item),
          sender: item.sender,
          ...decodeLeaveBody(item),
        });
      case "lapse":
        return encodeNotice("DeliverLapse", { ...placeOf(channelId, item), agentId: item.sender });
      case "gap":
        return encodeGap(channelId, item);
      case "welcome":
      case "close":
        throw new TypeError(`An entry of kind ${item.kind} is not delivered as such`);
    }
  }
}

function readWelcomes(item: LogItem): ReadonlyMap<AgentId, CarriedWelcome> {
  const found = new Map<AgentId, CarriedWelcome>();
  const add = (recipients: readonly AgentId[], welcome: Omit<CarriedWelcome, "notices">): void => {
    const carried: CarriedWelcome = { ...welcome, notices: new Map() };
    for (const agentId of recipients) found.set(agentId, carried);
  };
  if (item.kind === "welcome") {
    const { recipients, welcome, epoch } = decodeWelcomeBody(item);
    add(recipients, { welcome, epoch, state: undefined });
  } else if (item.kind === "commit") {
    const { welcomes, nextState: state } = decodeCommitBody(item);
    for (const { recipients, welcome } of welcomes) {
      add(recipients, { welcome, epoch: item.epoch + 1, state });
    }
  }
  return found;
}

type ItemPlace = { channelId: ChannelId; sequence: number; epoch: number; timeMs: number };

function placeOf(channelId: ChannelId, { sequence, epoch, timeMs }: Entry): ItemPlace {
  return { channelId, sequence, epoch, timeMs };
}

function encodeGap(
  channelId: ChannelId,
  { sequence, lastSequence, messages, reason }: Gap,
): Uint8Array {
  return encodeNotice("DeliverGap", {
    channelId,
    firstSequence: sequence,
    lastSequence,
    messages,
    reason,
  });
}
