/**
 * Which messages of each sender have arrived, by the counter that the sender authenticated. A counter that was seen is a
 * repetition; one that was passed over is missing until it arrives. Counters begin at 1 with every membership of a sender;
 * of those that were members before us, the first message that arrives is where we begin to count.
 */
import type { AgentId } from "../../proto/mod.ts";
import type { SenderRecord } from "./records.ts";

/** More holes than this are one hole: only their number is of use. */
const maxHoles = 64;

export type Verdict = "next" | "gap" | "late" | "duplicate";

export class Senders {
  readonly #known: Map<AgentId, SenderRecord>;

  constructor(known: ReadonlyMap<AgentId, SenderRecord> = new Map()) {
    this.#known = new Map(known);
  }

  judge(sender: AgentId, counter: number): Verdict {
    const known = this.#known.get(sender);
    if (known === undefined || counter === known.highest + 1) return "next";
    if (counter > known.highest) return "gap";
    return known.missing.some(({ first, last }) => first <= counter && counter <= last) ? "late" : "duplicate";
  }

  /** The message has arrived. Answers what to store once the application is done with it. */
  take(sender: AgentId, counter: number): SenderRecord {
    const known = this.#known.get(sender) ?? { highest: counter - 1, missing: [] };
    const taken = counter > known.highest ? passOver(known, counter) : fill(known, counter);
    this.#known.set(sender, taken);
    return taken;
  }

  /** A commit brought this member in: its next message is its first. */
  begin(sender: AgentId): void {
    this.#known.set(sender, { highest: 0, missing: [] });
  }

  clear(): void {
    this.#known.clear();
  }

  /** How many messages are missing, by sender. */
  *missing(): Generator<{ readonly sender: AgentId; readonly messages: number }> {
    for (const [sender, { missing }] of this.#known) {
      const messages = missing.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      if (messages > 0) yield { sender, messages };
    }
  }
}

function passOver({ highest, missing }: SenderRecord, counter: number): SenderRecord {
  if (counter === highest + 1) return { highest: counter, missing };
  const holes = [...missing, { first: highest + 1, last: counter - 1 }];
  const [oldest, second] = holes;
  const merged = holes.length > maxHoles && oldest && second
    ? [{ first: oldest.first, last: second.last }, ...holes.slice(2)]
    : holes;
  return { highest: counter, missing: merged };
}

function fill({ highest, missing }: SenderRecord, counter: number): SenderRecord {
  return {
    highest,
    missing: missing.flatMap(({ first, last }) => {
      if (counter < first || counter > last) return [{ first, last }];
      return [{ first, last: counter - 1 }, { first: counter + 1, last }].filter((hole) => hole.first <= hole.last);
    }),
  };
}
