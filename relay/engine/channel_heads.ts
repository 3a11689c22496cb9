/**
 * Heads of channels in memory: epoch, last sequence, whether it is open, and what its queue takes,
 * so that checking an append asks nobody. A head changes inside a group and is written to its row
 * once, when the group is committed.
 */
import type { AccountId, AgentId, ChannelId, ChannelName } from "../../proto/mod.ts";
import type { Database, Statement } from "./database.ts";

export interface ChannelHead {
  /** Stands for the id in other tables. */
  readonly number: number;
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly account: AccountId;
  readonly creator: AgentId;
  readonly timeMs: number;
  epoch: number;
  head: number;
  messages: number;
  messageBytes: number;
  /** The bytes of everything but messages: `log_bytes.ts` counts them. */
  otherBytes: number;
  snapshotSequence: number;
  /** The position of the last entry that overtakes a founding. */
  changeSequence: number;
  closedAtMs: number | undefined;
  /** The oldest message is not at or before this position. */
  messagesAfter: number;
  /** When the oldest message was appended; undefined without messages. */
  oldestMs: number | undefined;
}

interface ChannelRow {
  number: number;
  id: ChannelId;
  name: ChannelName;
  account: AccountId;
  creator: AgentId;
  time_ms: number;
  epoch: number;
  head: number;
  messages: number;
  message_bytes: number;
  other_bytes: number;
  snapshot_sequence: number;
  change_sequence: number;
  oldest_ms: number | null;
  closed_at_ms: number | null;
}

/** About 400 bytes each. */
const maxHeads = 10_000;

export class ChannelHeads {
  readonly #select: Statement<ChannelRow>;
  readonly #update: Statement;
  readonly #close: Statement;
  readonly #setOldest: Statement;
  readonly #heads = new Map<ChannelId, ChannelHead>();
  readonly #changed = new Set<ChannelHead>();

  constructor(database: Database) {
    this.#select = database.prepare("SELECT * FROM channel WHERE id = ?");
    this.#update = database.prepare(`
      UPDATE channel SET epoch = ?, head = ?, messages = ?, message_bytes = ?, other_bytes = ?, snapshot_sequence = ?,
        change_sequence = ?
      WHERE number = ?`);
    // Apart, because these change indexes that the other numbers are not part of.
    this.#close = database.prepare("UPDATE channel SET closed_at_ms = ? WHERE number = ?");
    this.#setOldest = database.prepare("UPDATE channel SET oldest_ms = ? WHERE number = ?");
  }

  find(channelId: ChannelId): ChannelHead | undefined {
    const known = this.#heads.get(channelId);
    if (known !== undefined) return known;
    const row = this.#select.get(channelId);
    if (row === undefined) return undefined;
    const head = headOf(row);
    this.#heads.set(channelId, head);
    return head;
  }

  /** A channel that appends are taken for. */
  findOpen(channelId: ChannelId): ChannelHead | undefined {
    const head = this.find(channelId);
    return head?.closedAtMs === undefined ? head : undefined;
  }

  /** Call inside a group, after changing a head. */
  changed(head: ChannelHead): void {
    this.#changed.add(head);
  }

  close(head: ChannelHead, timeMs: number): void {
    head.closedAtMs = timeMs;
    this.#close.run(timeMs, head.number);
  }

  setOldest(head: ChannelHead, oldestMs: number | undefined): void {
    if (head.oldestMs === oldestMs) return;
    head.oldestMs = oldestMs;
    this.#setOldest.run(oldestMs ?? null, head.number);
  }

  forget(channelId: ChannelId): void {
    this.#heads.delete(channelId);
  }

  /** The last thing of a group. */
  write(): void {
    for (const head of this.#changed) {
      this.#update.run(
        head.epoch,
        head.head,
        head.messages,
        head.messageBytes,
        head.otherBytes,
        head.snapshotSequence,
        head.changeSequence,
        head.number,
      );
    }
    this.#changed.clear();
    // Only here, because a changed head that was let go of earlier would be read back unchanged.
    for (const channelId of this.#heads.keys()) {
      if (this.#heads.size <= maxHeads) break;
      this.#heads.delete(channelId);
    }
  }

  /** The group was undone: what memory knows may be wrong. */
  reset(): void {
    this.#changed.clear();
    this.#heads.clear();
  }
}

function headOf(row: ChannelRow): ChannelHead {
  return {
    number: row.number,
    channelId: row.id,
    name: row.name,
    account: row.account,
    creator: row.creator,
    timeMs: row.time_ms,
    epoch: row.epoch,
    head: row.head,
    messages: row.messages,
    messageBytes: row.message_bytes,
    otherBytes: row.other_bytes,
    snapshotSequence: row.snapshot_sequence,
    changeSequence: row.change_sequence,
    closedAtMs: row.closed_at_ms ?? undefined,
    messagesAfter: 0,
    oldestMs: row.oldest_ms ?? undefined,
  };
}
