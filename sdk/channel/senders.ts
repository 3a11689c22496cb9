/**
 * Which messages of each sender have arrived, by the counter that the sender authenticated. A counter that was seen is a
 * repetition; one that was passed over is missing until it arrives. Counters begin at 1 with every membership of a sender, so
 * a message is judged among those of the membership that its epoch belongs to; of those that were members before us, the first
 * message that arrives is where we begin to count.
 */
import type { AgentId, MessageId } from "../../proto/mod.ts";
import type { SenderRecord } from "./records.ts";

/** More holes than this are one hole: only their number is of use. */
const maxHoles = 64;
/** Of each sender, the latest messages whose ids are remembered. */
const maxIds = 256;

export type Verdict = "next" | "gap" | "late" | "duplicate";

/** What a message says about itself, authenticated. */
export interface Counted {
  readonly counter: number;
  readonly epoch: number;
}

export class Senders {
  readonly #known: Map<AgentId, SenderRecord>;
  /** Of the membership before: its last messages may be read after the commit that ended it. In memory only. */
  readonly #before = new Map<AgentId, SenderRecord>();
  /** By sender and counter, in this membership. In memory only: what was repeated is an explanation, not a rule. */
  readonly #ids = new Map<AgentId, Map<number, MessageId>>();

  /** `since` are the epochs in which members came: what is stored of an earlier membership says nothing about this one. */
  constructor(known: ReadonlyMap<AgentId, SenderRecord> = new Map(), since: ReadonlyMap<AgentId, number> = new Map()) {
    this.#known = new Map(known);
    for (const [sender, epoch] of since) {
      if ((this.#known.get(sender)?.since ?? 0) < epoch) this.begin(sender, epoch);
    }
  }

  judge(sender: AgentId, { counter, epoch }: Counted): Verdict {
    const known = this.#memberships(sender, epoch).get(sender);
    if (known === undefined || counter === known.highest + 1) return "next";
    if (counter > known.highest) return "gap";
    return known.missing.some(({ first, last }) => first <= counter && counter <= last) ? "late" : "duplicate";
  }

  /** The highest counter that has arrived in the membership that this epoch belongs to; 0 when there was none. */
  highest(sender: AgentId, epoch: number): number {
    return this.#memberships(sender, epoch).get(sender)?.highest ?? 0;
  }

  /** Whether another message has arrived under this counter. */
  contradicts(sender: AgentId, { counter, epoch }: Counted, messageId: MessageId): boolean {
    if (this.#memberships(sender, epoch) !== this.#known) return false;
    const known = this.#ids.get(sender)?.get(counter);
    return known !== undefined && known !== messageId;
  }

  /** The message has arrived. Answers what to store once the application is done with it. */
  take(sender: AgentId, { counter, epoch }: Counted, messageId?: MessageId): SenderRecord {
    const memberships = this.#memberships(sender, epoch);
    if (messageId !== undefined && memberships === this.#known) this.#remember(sender, counter, messageId);
    const known = memberships.get(sender) ?? { since: 0, highest: counter - 1, missing: [] };
    const taken = counter > known.highest ? passOver(known, counter) : fill(known, counter);
    memberships.set(sender, taken);
    return this.#known.get(sender) ?? taken;
  }

  /** A commit brought this member in with this epoch: its next message is its first. */
  begin(sender: AgentId, since: number): void {
    const known = this.#known.get(sender);
    if (known !== undefined) this.#before.set(sender, known);
    this.#ids.delete(sender);
    this.#known.set(sender, { since, highest: 0, missing: [] });
  }

  #memberships(sender: AgentId, epoch: number): Map<AgentId, SenderRecord> {
    return epoch < (this.#known.get(sender)?.since ?? 0) ? this.#before : this.#known;
  }

  clear(): void {
    this.#known.clear();
    this.#before.clear();
    this.#ids.clear();
  }

  #remember(sender: AgentId, counter: number, messageId: MessageId): void {
    const ids = this.#ids.get(sender) ?? new Map<number, MessageId>();
    this.#ids.set(sender, ids.set(counter, messageId));
    const [oldest] = ids.keys();
    if (ids.size > maxIds && oldest !== undefined) ids.delete(oldest);
  }

  /** How many messages are missing, by sender. */
  *missing(): Generator<{ readonly sender: AgentId; readonly messages: number }> {
    for (const [sender, { missing }] of this.#known) {
      const messages = missing.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      if (messages > 0) yield { sender, messages };
    }
  }
}

function passOver({ since, highest, missing }: SenderRecord, counter: number): SenderRecord {
  if (counter === highest + 1) return { since, highest: counter, missing };
  const holes = [...missing, { first: highest + 1, last: counter - 1 }];
  const [oldest, second] = holes;
  const merged = holes.length > maxHoles && oldest && second
    ? [{ first: oldest.first, last: second.last }, ...holes.slice(2)]
    : holes;
  return { since, highest: counter, missing: merged };
}

function fill({ since, highest, missing }: SenderRecord, counter: number): SenderRecord {
  return {
    since,
    highest,
    missing: missing.flatMap(({ first, last }) => {
      if (counter < first || counter > last) return [{ first, last }];
      return [{ first, last: counter - 1 }, { first: counter + 1, last }].filter((hole) => hole.first <= hole.last);
    }),
  };
}
