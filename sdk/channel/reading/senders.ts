/**
 * Which messages of each sender have arrived, by the counter that the sender authenticated. A
 * counter that was seen is a repetition; one that was passed over is missing until it arrives.
 * Counters begin at 1 with every membership of a sender, so a message is judged among those of the
 * membership that its epoch belongs to; of those that were members before us, the first message
 * that arrives is where we begin to count.
 */
import type { AgentId, CounterRange, MessageId } from "../../../proto/mod.ts";
import type { SenderRecord } from "../records.ts";

/** More holes than this are one hole: only their number is of use. */
const maxHoles = 64;
/** Number of the latest messages of each sender whose ids are remembered. */
const maxIds = 256;
/** Number of the latest ids that are remembered of messages in bundles, of all senders together. */
const maxShown = 8_192;
/** Number of the latest gaps of each sender that it said would stay gaps. */
const maxClosed = 8;

export type CounterVerdict = "next" | "gap" | "late" | "duplicate";

/** A message's statement about itself, authenticated. */
export interface MessageCounter {
  readonly counter: number;
  readonly epoch: number;
  /** Counters before it that its sender says will not come. */
  readonly gone?: CounterRange | undefined;
}

/** A message that has arrived, until the application is done with it. */
export interface ArrivedMessage extends MessageCounter {
  readonly sender: AgentId;
  /** The membership that it belongs to. */
  readonly since: number;
}

/** A unit that the relay took. */
interface TakenUnit {
  /** The last counter of it. */
  readonly last: number;
  readonly id: MessageId;
}

/** A message that was shown, among those of its sender. */
interface ShownId {
  readonly ids: Set<MessageId>;
  readonly id: MessageId;
}

/** The messages of one sender's membership that the application has processed. */
interface SenderProgress {
  /** The highest counter that it is done with. */
  highest: number;
  /** Counters that have arrived and that it is not done with, ascending. */
  open: Set<number>;
}

export class Senders {
  readonly #known: Map<AgentId, SenderRecord>;
  readonly #progress = new Map<AgentId, SenderProgress>();
  /**
   * Holes up to here are from an earlier life: what fills them was open then, or late, and nobody
   * can tell.
   */
  readonly #loaded: ReadonlyMap<AgentId, SenderRecord>;
  /**
   * The senders of the membership before. Its last messages may be read after the commit that ended
   * it. In memory only.
   */
  readonly #before = new Map<AgentId, SenderRecord>();
  /**
   * The taken units by sender and first counter, in this membership. In memory only: what was
   * repeated is an explanation, not a rule.
   */
  readonly #ids = new Map<AgentId, Map<number, TakenUnit>>();
  /**
   * The ids of the latest messages that came in bundles, by sender: they may come again by
   * themselves. In memory only.
   */
  readonly #shown = new Map<AgentId, Set<MessageId>>();
  readonly #shownInOrder: ShownId[] = [];
  #shownCount = 0;
  /** Counters that had not arrived when their sender said that they would not. In memory only. */
  readonly #closed = new Map<AgentId, readonly CounterGap[]>();

  /**
   * `since` are the epochs in which members came: what is stored of an earlier membership says
   * nothing about this one.
   */
  constructor(
    known: ReadonlyMap<AgentId, SenderRecord> = new Map(),
    since: ReadonlyMap<AgentId, { readonly epoch: number }> = new Map(),
  ) {
    this.#known = new Map(known);
    this.#loaded = known;
    for (const [sender, { epoch }] of since) {
      if ((this.#known.get(sender)?.since ?? 0) < epoch) this.begin(sender, epoch);
    }
  }

  judge(sender: AgentId, { counter, epoch, gone }: MessageCounter): CounterVerdict {
    const known = this.#memberships(sender, epoch).get(sender);
    if (known === undefined || counter === known.highest + 1) return "next";
    if (counter > known.highest) return isExplained(known, { counter, gone }) ? "next" : "gap";
    if (!known.missing.some(({ first, last }) => first <= counter && counter <= last)) {
      return "duplicate";
    }
    const loaded = this.#loaded.get(sender);
    return loaded?.since === known.since && counter < loaded.highest ? "next" : "late";
  }

  /**
   * The highest counter that has arrived in the membership that this epoch belongs to; 0 when there
   * was none.
   */
  highest(sender: AgentId, epoch: number): number {
    return this.#memberships(sender, epoch).get(sender)?.highest ?? 0;
  }

  /** Whether another message has arrived under this counter. */
  contradicts(sender: AgentId, { counter, epoch }: MessageCounter, messageId: MessageId): boolean {
    if (this.#memberships(sender, epoch) !== this.#known) return false;
    for (const [first, { last, id }] of this.#ids.get(sender) ?? []) {
      if (first <= counter && counter <= last && id !== messageId) return true;
    }
    return false;
  }

  /**
   * A sender says that these messages will not come: nobody waits for them any more, and they are
   * not taken later.
   */
  close(sender: AgentId, { epoch, gone }: MessageCounter): void {
    const memberships = this.#memberships(sender, epoch);
    const known = memberships.get(sender);
    if (known === undefined || gone === undefined) return;
    const { record, holes } = closed(known, gone);
    memberships.set(sender, record);
    if (holes.length === 0 || memberships !== this.#known) return;
    this.#closed.set(sender, [...this.#closed.get(sender) ?? [], ...holes].slice(-maxClosed));
  }

  /** Whether its sender had said that it would not come, and it has not. */
  wasClosed(sender: AgentId, { counter, epoch }: MessageCounter): boolean {
    if (this.#memberships(sender, epoch) !== this.#known) return false;
    return (this.#closed.get(sender) ?? []).some(({ first, last }) =>
      first <= counter && counter <= last
    );
  }

  /** Whether the application has been given this message under another counter. */
  wasShown(sender: AgentId, id: MessageId): boolean {
    return this.#shown.get(sender)?.has(id) ?? false;
  }

  /** Notes a message that came with others: if they come apart, it comes under another counter. */
  shownInBundle(sender: AgentId, id: MessageId): void {
    const ids = this.#shown.get(sender) ?? new Set();
    this.#shown.set(sender, ids);
    const at = this.#shownCount++ % maxShown;
    const oldest = this.#shownInOrder[at];
    oldest?.ids.delete(oldest.id);
    this.#shownInOrder[at] = { ids, id };
    ids.add(id);
  }

  /** The message has arrived. `messageId` is that under which the relay took it. */
  take(sender: AgentId, { counter, epoch }: MessageCounter, messageId?: MessageId): ArrivedMessage {
    const memberships = this.#memberships(sender, epoch);
    if (messageId !== undefined && memberships === this.#known) {
      this.#remember(sender, counter, { last: counter, id: messageId });
    }
    const known = memberships.get(sender) ?? { since: 0, highest: counter - 1, missing: [] };
    if (memberships === this.#known) this.#begin(sender, known, counter);
    memberships.set(
      sender,
      counter > known.highest ? passOver(known, counter) : fill(known, counter),
    );
    return { sender, counter, epoch, since: known.since };
  }

  /** The application is done with it. */
  done({ sender, counter, since }: ArrivedMessage): void {
    const progress = this.#progress.get(sender);
    if (progress === undefined || this.#known.get(sender)?.since !== since) return;
    progress.open.delete(counter);
    progress.highest = Math.max(progress.highest, counter);
  }

  /**
   * Returns what to store of a sender: messages that the application is not done with count as
   * missing there.
   */
  record(sender: AgentId): SenderRecord | undefined {
    const [known, progress] = [this.#known.get(sender), this.#progress.get(sender)];
    if (known === undefined || progress === undefined) return undefined;
    const [{ since }, { highest }] = [known, progress];
    const holes = known.missing.filter(({ first }) => first < highest)
      .map(({ first, last }) => ({ first, last: Math.min(last, highest - 1) }));
    for (const open of progress.open) {
      if (open > highest) break;
      holes.push({ first: open, last: open });
    }
    return { since, highest, missing: joined(holes) };
  }

  #begin(sender: AgentId, known: SenderRecord, counter: number): void {
    const progress = this.#progress.get(sender) ?? { highest: known.highest, open: new Set() };
    this.#progress.set(sender, progress);
    progress.open.add(counter);
    if (counter < known.highest) progress.open = new Set([...progress.open].sort((a, b) => a - b));
  }

  /** A commit brought this member in with this epoch: its next message is its first. */
  begin(sender: AgentId, since: number): void {
    const known = this.#known.get(sender);
    if (known !== undefined) this.#before.set(sender, known);
    this.#ids.delete(sender);
    this.#closed.delete(sender);
    this.#progress.delete(sender);
    this.#known.set(sender, { since, highest: 0, missing: [] });
  }

  #memberships(sender: AgentId, epoch: number): Map<AgentId, SenderRecord> {
    return epoch < (this.#known.get(sender)?.since ?? 0) ? this.#before : this.#known;
  }

  clear(): void {
    this.#known.clear();
    this.#progress.clear();
    this.#before.clear();
    this.#ids.clear();
    this.#shown.clear();
    this.#closed.clear();
  }

  /** The messages of a bundle have arrived, which the relay took under this id. */
  rememberBundle(
    sender: AgentId,
    { counter, count, epoch }: MessageCounter & { readonly count: number },
    id: MessageId,
  ): void {
    if (this.#memberships(sender, epoch) === this.#known) {
      this.#remember(sender, counter, { last: counter + count - 1, id });
    }
  }

  #remember(sender: AgentId, counter: number, taken: TakenUnit): void {
    const ids = this.#ids.get(sender) ?? new Map<number, TakenUnit>();
    this.#ids.set(sender, ids.set(counter, taken));
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

type CounterGap = SenderRecord["missing"][number];

/** Whether all that was passed over is what the sender says will not come. */
function isExplained(
  { highest }: SenderRecord,
  { counter, gone }: Pick<MessageCounter, "counter" | "gone">,
): boolean {
  return gone !== undefined && gone.first <= highest + 1 && gone.first + gone.count >= counter;
}

/** `holes` are those of the range that had not arrived. */
function closed(
  record: SenderRecord,
  { first, count }: CounterRange,
): { record: SenderRecord; holes: CounterGap[] } {
  const last = first + count - 1;
  const { since, missing } = record.highest < last ? passOver(record, last + 1) : record;
  const isHole = (hole: CounterGap): boolean => hole.first <= hole.last;
  const left = missing.flatMap((hole) =>
    [
      { first: hole.first, last: Math.min(hole.last, first - 1) },
      { first: Math.max(hole.first, last + 1), last: hole.last },
    ].filter(isHole)
  );
  const holes = missing.map((hole) => ({
    first: Math.max(hole.first, first),
    last: Math.min(hole.last, last),
  }));
  return {
    record: { since, highest: Math.max(record.highest, last), missing: left },
    holes: holes.filter(isHole),
  };
}

function passOver({ since, highest, missing }: SenderRecord, counter: number): SenderRecord {
  if (counter === highest + 1) return { since, highest: counter, missing };
  return {
    since,
    highest: counter,
    missing: atMost([...missing, { first: highest + 1, last: counter - 1 }]),
  };
}

/** The oldest become one. */
function atMost(holes: readonly CounterGap[]): readonly CounterGap[] {
  const surplus = holes.length - maxHoles;
  const [oldest, last] = [holes[0], holes[surplus]];
  if (surplus <= 0 || oldest === undefined || last === undefined) return holes;
  return [{ first: oldest.first, last: last.last }, ...holes.slice(surplus + 1)];
}

/** In order, those that touch as one. */
function joined(holes: readonly CounterGap[]): readonly CounterGap[] {
  const result: CounterGap[] = [];
  for (const hole of [...holes].sort((a, b) => a.first - b.first)) {
    const before = result.at(-1);
    if (before === undefined || before.last + 1 < hole.first) result.push(hole);
    else {result[result.length - 1] = {
        first: before.first,
        last: Math.max(before.last, hole.last),
      };}
  }
  return atMost(result);
}

function fill({ since, highest, missing }: SenderRecord, counter: number): SenderRecord {
  return {
    since,
    highest,
    missing: missing.flatMap(({ first, last }) => {
      if (counter < first || counter > last) return [{ first, last }];
      return [{ first, last: counter - 1 }, { first: counter + 1, last }].filter((hole) =>
        hole.first <= hole.last
      );
    }),
  };
}
