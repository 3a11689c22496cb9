/**
 * Sizes of channels and accounts. The sums are kept with their rows: a channel's in its head, an
 * account's in a row of its own, both written with the group that changes them. So no log is ever
 * added up, not even after a restart. A channel's messages give way to gaps when they are too many,
 * so its other bytes are a sum of their own.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { ChannelHead, ChannelHeads } from "./channel_heads.ts";
import type { Database, Statement } from "./database.ts";
import type { NewEntry, StorageLimits } from "./engine.ts";

/** Accounts in memory. */
const maxKept = 10_000;
/**
 * Size of a channel without its log and its members: its row, a snapshot, pages that are half full.
 */
export const bytesPerChannel = 4096;
/**
 * Size of a member, until its cursor is dropped: its listing, its cursor, its part of the snapshot.
 */
export const bytesPerMember = 400;
/** Size of a channel's record beside its value. */
export const bytesPerRecord = 200;

export class LogBytes {
  readonly #select: Statement<{ bytes: number }>;
  readonly #update: Statement;
  readonly #delete: Statement;
  readonly #heads: ChannelHeads;
  readonly #accounts = new Map<AccountId, number>();
  readonly #changed = new Set<AccountId>();

  constructor(database: Database, heads: ChannelHeads) {
    this.#heads = heads;
    this.#select = database.prepare("SELECT bytes FROM account_bytes WHERE account = ?");
    this.#update = database.prepare(`
      INSERT INTO account_bytes (account, bytes) VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = excluded.bytes`);
    this.#delete = database.prepare("DELETE FROM account_bytes WHERE account = ?");
  }

  /** Returns the part that has no room for this entry. */
  full(
    channel: ChannelHead,
    { kind, body, added, room }: NewEntry,
  ): "channel" | "account" | undefined {
    if (room === undefined) return undefined;
    if (kind !== "message") {
      return this.fullWith(channel, body.length + added.length * bytesPerMember, room);
    }
    return this.ofAccount(channel.account) + body.length > room.accountBytes
      ? "account"
      : undefined;
  }

  /** Returns the part that has no room for so many bytes which are not a message. */
  fullWith(
    { otherBytes, account }: ChannelHead,
    bytes: number,
    room: StorageLimits,
  ): "channel" | "account" | undefined {
    if (otherBytes + bytes > room.channelBytes) return "channel";
    return this.ofAccount(account) + bytes > room.accountBytes ? "account" : undefined;
  }

  ofAccount(account: AccountId): number {
    const known = this.#accounts.get(account);
    if (known !== undefined) return known;
    const bytes = this.#select.get(account)?.bytes ?? 0;
    this.#accounts.set(account, bytes);
    return bytes;
  }

  /**
   * Call inside a group, after something was added (above 0) or removed. The head already counts
   * the bytes of a channel's messages.
   */
  changed(channel: ChannelHead, bytes: number, isMessage: boolean): void {
    if (bytes === 0) return;
    if (!isMessage) {
      channel.otherBytes += bytes;
      this.#heads.changed(channel);
    }
    this.accountChanged(channel.account, bytes);
  }

  accountChanged(account: AccountId, bytes: number): void {
    this.#accounts.set(account, this.ofAccount(account) + bytes);
    this.#changed.add(account);
  }

  /** The last thing of a group. */
  write(): void {
    for (const account of this.#changed) {
      const bytes = this.ofAccount(account);
      if (bytes > 0) this.#update.run(account, bytes);
      else this.#delete.run(account);
    }
    this.#changed.clear();
    if (this.#accounts.size > maxKept) this.#accounts.clear();
  }

  /** The group was undone: what memory knows may be wrong. */
  reset(): void {
    this.#changed.clear();
    this.#accounts.clear();
  }
}
