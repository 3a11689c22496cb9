/**
 * How far a durable reader is behind the fastest one, and what it must give up so that it holds up
 * nobody.
 */
import type { AgentId } from "../../../proto/mod.ts";
import { leavesRoom } from "../../channel/messages/inbox.ts";

export interface LagLimits {
  /** Messages of one sender: their keys are kept until every reader is past them. */
  readonly messagesOfSender: number;
  readonly messages: number;
  readonly bytes: number;
  readonly ageMs: number;
}

/** With these in a channel's inbox, it still has room: one that stands still holds up no other. */
export const lagLimits: LagLimits = {
  messagesOfSender: 1000,
  messages: leavesRoom.items,
  bytes: leavesRoom.bytes,
  ageMs: 24 * 3_600_000,
};

/** A message, as far as it counts here. */
export interface LaggingMessage {
  /** `weight`: as the inbox counts it. */
  readonly envelope: { readonly weight: number; readonly sender: { readonly agentId: AgentId } };
}

export class ReaderLag<Entry extends LaggingMessage> {
  readonly #limits: LagLimits;
  /** Messages that another reader is past, with when it passed them, the oldest first. */
  readonly #behind = new Map<Entry, number>();
  readonly #bySender = new Map<AgentId, number>();
  #bytes = 0;

  constructor(limits: LagLimits = lagLimits) {
    this.#limits = limits;
  }

  /** Another reader is past it. */
  add(entry: Entry, nowMs: number): void {
    this.#behind.set(entry, nowMs);
    this.#count(entry, 1);
  }

  /** This reader is past it, too. */
  passed(entry: Entry): void {
    if (this.#behind.delete(entry)) this.#count(entry, -1);
  }

  /** Returns the entries that must be given up, the oldest first; they no longer count. */
  giveUp(nowMs: number): Entry[] {
    const { messagesOfSender, messages, bytes, ageMs } = this.#limits;
    const given: Entry[] = [];
    for (const [entry, sinceMs] of this.#behind) {
      const ofSender = this.#bySender.get(entry.envelope.sender.agentId) ?? 0;
      const isTooFar = this.#behind.size > messages || this.#bytes > bytes ||
        nowMs - sinceMs > ageMs;
      if (!isTooFar && ofSender <= messagesOfSender) {
        if (this.#isWithinLimits(messagesOfSender)) break;
        continue;
      }
      this.passed(entry);
      given.push(entry);
    }
    return given;
  }

  #isWithinLimits(messagesOfSender: number): boolean {
    for (const count of this.#bySender.values()) if (count > messagesOfSender) return false;
    return true;
  }

  #count({ envelope: { weight, sender: { agentId } } }: Entry, change: 1 | -1): void {
    this.#bytes += change * weight;
    const count = (this.#bySender.get(agentId) ?? 0) + change;
    if (count === 0) this.#bySender.delete(agentId);
    else this.#bySender.set(agentId, count);
  }
}
