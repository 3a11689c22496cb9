/**
 * What entries take, by channel and by account: added up when somebody needs to know, then kept in memory. A channel's
 * messages give way to gaps when they are too many, so its own sum is of commits and Welcomes; an account's is of everything.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { ChannelHead, ChannelHeads } from "./channel_heads.ts";
import type { Database, Statement } from "./database.ts";
import type { NewEntry } from "./engine.ts";

/** Beyond, everything is added up again. */
const maxKept = 10_000;
/** What a channel takes without its log: its row, its creator's listing and cursor, a snapshot, pages that are half full. */
export const bytesPerChannel = 4096;

export class LogBytes {
  readonly #ofChannel: Statement<{ bytes: number }>;
  readonly #ofAccount: Statement<{ bytes: number }>;
  /** By number. */
  readonly #channels = new Map<number, number>();
  readonly #accounts = new Map<AccountId, number>();
  readonly #heads: ChannelHeads;

  constructor(database: Database, heads: ChannelHeads) {
    this.#heads = heads;
    // length() of a BLOB does not read it.
    this.#ofChannel = database.prepare(`
      SELECT coalesce(sum(length(body)), 0) AS bytes FROM entry INDEXED BY entry_other
      WHERE channel = ? AND kind <> 'message'`);
    this.#ofAccount = database.prepare(`
      SELECT
        (SELECT coalesce(sum(length(body)), 0) FROM channel INDEXED BY channel_any_account
          CROSS JOIN entry INDEXED BY entry_other ON entry.channel = channel.number AND kind <> 'message'
          WHERE account = ?1) +
        (SELECT coalesce(sum(message_bytes + ${bytesPerChannel}), 0) FROM channel INDEXED BY channel_any_account
          WHERE account = ?1) AS bytes`);
  }

  /** What has no room for this entry. */
  full({ number, account }: ChannelHead, { kind, body, room }: NewEntry): "channel" | "account" | undefined {
    if (room === undefined) return undefined;
    const inChannel = kind === "message" ? 0 : this.#sum(this.#channels, number, this.#ofChannel) + body.length;
    if (inChannel > room.channelBytes) return "channel";
    return this.ofAccount(account) + body.length > room.accountBytes ? "account" : undefined;
  }

  ofAccount(account: AccountId): number {
    // Heads that changed in this group are not in their rows yet.
    if (!this.#accounts.has(account)) this.#heads.flush();
    return this.#sum(this.#accounts, account, this.#ofAccount);
  }

  /** Call inside a group, after entries came (above 0) or went. */
  changed({ number, account }: ChannelHead, bytes: number, isMessage: boolean): void {
    const channel = this.#channels.get(number);
    if (channel !== undefined && !isMessage) this.#channels.set(number, channel + bytes);
    this.accountChanged(account, bytes);
  }

  accountChanged(account: AccountId, bytes: number): void {
    const all = this.#accounts.get(account);
    if (all !== undefined) this.#accounts.set(account, all + bytes);
  }

  /** The group was undone: what memory knows may be wrong. */
  reset(): void {
    this.#channels.clear();
    this.#accounts.clear();
  }

  #sum<Key extends string | number>(sums: Map<Key, number>, key: Key, add: Statement<{ bytes: number }>): number {
    const known = sums.get(key);
    if (known !== undefined) return known;
    if (sums.size >= maxKept) sums.clear();
    const bytes = add.get(key)?.bytes ?? 0;
    sums.set(key, bytes);
    return bytes;
  }
}
