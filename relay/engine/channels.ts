/** Making, finding and listing channels, and the snapshots of their folds. */
import type { AccountId, AgentId, ChannelId } from "../../proto/mod.ts";
import type { ChannelHead, ChannelHeads } from "./channel_heads.ts";
import type { Database, Statement } from "./database.ts";
import { bytesPerChannel, bytesPerMember, type LogBytes } from "./log_bytes.ts";
import type {
  ChannelPage,
  ChannelRecord,
  CreateOutcome,
  JoiningQuery,
  ListQuery,
  NewChannel,
  Snapshot,
  WaitingQuery,
  WelcomeBacklog,
} from "./engine.ts";

export interface SizedChannel {
  number: number;
  id: ChannelId;
  bytes: number;
}

/** Counted no further: long before, each has no more than what is guaranteed. */
const mostOtherAccounts = 1_000;
/** Compared at once: a row takes some microseconds. */
const sizesAtOnce = 500;

export class Channels {
  readonly #heads: ChannelHeads;
  readonly #logBytes: LogBytes;
  readonly #insert: Statement;
  readonly #insertListing: Statement;
  readonly #insertCursor: Statement;
  readonly #numberOf: Statement<{ number: number }>;
  readonly #byNonce: Statement<{ id: ChannelId }>;
  readonly #byName: Statement<{ id: ChannelId }>;
  readonly #list: Statement<{ id: ChannelId }>;
  readonly #listJoining: Statement<{ id: ChannelId }>;
  readonly #joining: Statement<WelcomeBacklog>;
  readonly #listed: Statement<{ listed: number }>;
  readonly #count: Statement<{ channels: number }>;
  readonly #aged: Statement<{ id: ChannelId }>;
  readonly #closed: Statement<{ id: ChannelId }>;
  readonly #sizes: Statement<SizedChannel>;
  readonly #snapshot: Statement<{ state: Uint8Array }>;
  readonly #saveSnapshot: Statement;

  constructor(database: Database, heads: ChannelHeads, logBytes: LogBytes) {
    this.#heads = heads;
    this.#logBytes = logBytes;
    this.#insert = database.prepare(`
      INSERT INTO channel (id, name, account, creator, nonce, time_ms, other_bytes)
      VALUES (?, ?, ?, ?, ?, ?, ${bytesPerMember})`);
    this.#insertListing = database.prepare("INSERT INTO listing (agent, channel_id) VALUES (?, ?)");
    this.#insertCursor = database.prepare(
      "INSERT INTO cursor (channel, agent, consumed) VALUES (?, ?, 0)",
    );
    this.#numberOf = database.prepare("SELECT number FROM channel WHERE id = ?");
    this.#byNonce = database.prepare("SELECT id FROM channel WHERE creator = ? AND nonce = ?");
    this.#byName = database.prepare(
      "SELECT id FROM channel WHERE account = ? AND name = ? AND closed_at_ms IS NULL",
    );
    // Each half reads its own index in order and stops at the limit.
    this.#list = database.prepare(`
      SELECT id FROM (
        SELECT id FROM (
          SELECT channel_id AS id FROM listing JOIN channel ON channel.id = channel_id AND closed_at_ms IS NULL
          WHERE agent = ?1 AND channel_id > ?3 ORDER BY channel_id LIMIT ?4)
        UNION
        SELECT id FROM (
          SELECT id FROM channel WHERE account = ?2 AND closed_at_ms IS NULL AND id > ?3 ORDER BY id LIMIT ?4)
      ) ORDER BY id LIMIT ?4`);
    this.#listJoining = database.prepare(`
      SELECT id FROM cursor INDEXED BY cursor_waiting CROSS JOIN channel ON number = channel AND id > ?2
      WHERE cursor.agent = ?1 AND joining IS NOT NULL ORDER BY id LIMIT ?3`);
    // From sums, and one row of the channel that is not counted: what waits for an agent may be as
    // long as strangers like.
    this.#joining = database.prepare(`
      WITH
        own AS (SELECT channels, bytes FROM waiting WHERE agent = ?1 AND account = ?2),
        excepted AS (
          SELECT welcome_bytes AS bytes FROM cursor
          WHERE channel = (SELECT number FROM channel WHERE id = ?3) AND agent = ?1 AND joining = ?2)
      SELECT
        coalesce((SELECT channels FROM own), 0) - (SELECT count(*) FROM excepted) AS channelsOfAccount,
        coalesce((SELECT bytes FROM own), 0) - coalesce((SELECT bytes FROM excepted), 0) AS bytesOfAccount,
        (SELECT count(*) FROM (
          SELECT 1 FROM waiting WHERE agent = ?1 AND account <> ?2 LIMIT ${mostOtherAccounts})) AS otherAccounts`);
    this.#listed = database.prepare(`
      SELECT EXISTS (
        SELECT 1 FROM listing JOIN channel ON channel.id = channel_id AND closed_at_ms IS NULL WHERE agent = ?
      ) AS listed`);
    this.#count = database.prepare(
      "SELECT count(*) AS channels FROM channel WHERE account = ? AND closed_at_ms IS NULL",
    );
    this.#aged = database.prepare(`
      SELECT id FROM channel WHERE closed_at_ms IS NULL AND oldest_ms IS NOT NULL AND oldest_ms < ?
      ORDER BY oldest_ms LIMIT ?`);
    this.#closed = database.prepare(`
      SELECT id FROM channel INDEXED BY channel_closed_account WHERE account = ? AND closed_at_ms IS NOT NULL
      ORDER BY closed_at_ms LIMIT ?`);
    this.#sizes = database.prepare(`
      SELECT number, id, iif(closed_at_ms IS NULL, message_bytes + other_bytes, -1) AS bytes
      FROM channel INDEXED BY channel_any_account
      WHERE account = ? AND number > ? ORDER BY number LIMIT ${sizesAtOnce}`);
    this.#snapshot = database.prepare("SELECT state FROM snapshot WHERE channel = ?");
    this.#saveSnapshot = database.prepare(
      "INSERT OR REPLACE INTO snapshot (channel, state) VALUES (?, ?)",
    );
  }

  /** `id_taken` is not an outcome but a caller's mistake: ids are random. */
  create(channel: NewChannel): CreateOutcome | { readonly kind: "id_taken" } {
    const { channelId, name, account, creator, nonce, timeMs, maxOpen, accountBytes = Infinity } =
      channel;
    const same = this.#byNonce.get(creator, nonce);
    const original = same === undefined ? undefined : this.find(same.id);
    if (original !== undefined) return { kind: "duplicate", original };
    if (this.#byName.get(account, name) !== undefined) return { kind: "name_taken" };
    if (maxOpen !== undefined && this.#countOf(account) >= maxOpen) return { kind: "too_many" };
    const ownBytes = bytesPerChannel + bytesPerMember;
    if (this.#logBytes.ofAccount(account) + ownBytes > accountBytes) return { kind: "full" };
    if (this.#heads.find(channelId) !== undefined) return { kind: "id_taken" };
    this.#insert.run(channelId, name, account, creator, nonce, timeMs);
    const number = this.#numberOf.get(channelId)?.number ?? 0;
    this.#insertListing.run(creator, channelId);
    this.#insertCursor.run(number, creator);
    this.#logBytes.accountChanged(account, ownBytes);
    return { kind: "created" };
  }

  find(channelId: ChannelId): ChannelRecord | undefined {
    const head = this.#heads.find(channelId);
    if (head === undefined) return undefined;
    const { name, account, creator, timeMs, epoch, closedAtMs } = head;
    const snapshot = this.#findSnapshot(head);
    return {
      channelId,
      name,
      account,
      creator,
      timeMs,
      epoch,
      head: head.head,
      ...(closedAtMs !== undefined && { closedAtMs }),
      ...(snapshot !== undefined && { snapshot }),
    };
  }

  list({ agentId, account, after, limit }: ListQuery): ChannelPage {
    return pageOf(this.#list.all(agentId, account, after ?? "", limit + 1), limit);
  }

  listJoining({ agentId, after, limit }: JoiningQuery): ChannelPage {
    return pageOf(this.#listJoining.all(agentId, after ?? "", limit + 1), limit);
  }

  joining({ agentId, account, except }: WaitingQuery): WelcomeBacklog {
    return {
      channelsOfAccount: 0,
      bytesOfAccount: 0,
      otherAccounts: 0,
      ...this.#joining.get(agentId, account, except),
    };
  }

  isListed(agentId: AgentId): boolean {
    return this.#listed.get(agentId)?.listed === 1;
  }

  aged(beforeMs: number, limit: number): ChannelId[] {
    return this.#aged.all(beforeMs, limit).map(({ id }) => id);
  }

  closed(account: AccountId, limit: number): ChannelId[] {
    return this.#closed.all(account, limit).map(({ id }) => id);
  }

  /** Sizes of the next channels of an account; below 0 for closed ones. */
  sizes(account: AccountId, after: number): SizedChannel[] {
    return this.#sizes.all(account, after);
  }

  /** An older snapshot never replaces a newer one. */
  saveSnapshot(channelId: ChannelId, { sequence, state }: Snapshot): void {
    const head = this.#heads.find(channelId);
    if (head === undefined || sequence < head.snapshotSequence || sequence > head.head) return;
    this.#saveSnapshot.run(head.number, state);
    head.snapshotSequence = sequence;
    this.#heads.changed(head);
  }

  #countOf(account: AccountId): number {
    return this.#count.get(account)?.channels ?? 0;
  }

  #findSnapshot({ number, snapshotSequence }: ChannelHead): Snapshot | undefined {
    const state = this.#snapshot.get(number)?.state;
    return state === undefined ? undefined : { sequence: snapshotSequence, state };
  }
}

/** Returns a page of rows, of which one more than the limit was asked for. */
function pageOf(rows: readonly { readonly id: ChannelId }[], limit: number): ChannelPage {
  return { channels: rows.slice(0, limit).map(({ id }) => id), more: rows.length > limit };
}
