/**
 * What entries other than messages take, by channel and by account: added up when somebody needs to know, then kept in memory.
 * Messages are paid for and give way to gaps; commits and Welcomes are neither, so their room is bounded here.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { ChannelHead } from "./channel_heads.ts";
import type { Database, Statement } from "./database.ts";
import type { NewEntry } from "./engine.ts";

/** Beyond, everything is added up again. */
const maxKept = 10_000;

export class LogBytes {
  readonly #ofChannel: Statement<{ bytes: number }>;
  readonly #ofAccount: Statement<{ bytes: number }>;
  /** By number. */
  readonly #channels = new Map<number, number>();
  readonly #accounts = new Map<AccountId, number>();

  constructor(database: Database) {
    // length() of a BLOB does not read it.
    this.#ofChannel = database.prepare(`
      SELECT coalesce(sum(length(body)), 0) AS bytes FROM entry INDEXED BY entry_other
      WHERE channel = ? AND kind <> 'message'`);
    this.#ofAccount = database.prepare(`
      SELECT coalesce(sum(length(body)), 0) AS bytes FROM channel INDEXED BY channel_any_account
        CROSS JOIN entry INDEXED BY entry_other ON entry.channel = channel.number AND kind <> 'message'
      WHERE account = ?`);
  }

  /** What has no room for this entry. */
  full({ number, account }: ChannelHead, { kind, body, room }: NewEntry): "channel" | "account" | undefined {
    if (room === undefined || kind === "message") return undefined;
    const inChannel = this.#sum(this.#channels, number, this.#ofChannel) + body.length;
    if (inChannel > room.channelBytes) return "channel";
    const inAccount = this.#sum(this.#accounts, account, this.#ofAccount) + body.length;
    return inAccount > room.accountBytes ? "account" : undefined;
  }

  /** Call inside a group, after entries that are no messages came (above 0) or went. */
  changed({ number, account }: ChannelHead, bytes: number): void {
    const [channel, all] = [this.#channels.get(number), this.#accounts.get(account)];
    if (channel !== undefined) this.#channels.set(number, channel + bytes);
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
