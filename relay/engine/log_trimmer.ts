/**
 * Taking things out of the log: what everybody has consumed, messages that must give way, and what
 * is too old to be asked for. All in slices of a few milliseconds, each a job among those of other
 * callers, so that nobody waits for a long queue.
 */
import type { ChannelId, GapReason } from "../../proto/mod.ts";
import type { ChannelHead, ChannelHeads } from "./channel_heads.ts";
import type { Database, Statement } from "./database.ts";
import type { ForgetBefore } from "./engine.ts";
import { type GroupCommit, nextTurn } from "./group_commit.ts";
import { bytesPerChannel, type LogBytes } from "./log_bytes.ts";

interface Victim {
  number: number;
  sequence: number;
  message: number;
  bytes: number;
}

/** `full`: there may be more, and others should run before it. */
export type SliceResult = "full" | "done";

interface ClosedChannel {
  id: ChannelId;
  number: number;
  closedAtMs: number;
  unread: number;
}

interface SequenceRange {
  readonly first: number;
  last: number;
}

const sliceRows = 100;
/** `closed_at_ms` of a channel that is being purged. */
const purging = 0;
/** Long bodies lie in chains of pages that are freed one by one. */
const sliceBytes = 1024 * 1024;

interface LogTrimmerDeps {
  readonly heads: ChannelHeads;
  readonly logBytes: LogBytes;
}

export class LogTrimmer {
  readonly #heads: ChannelHeads;
  readonly #logBytes: LogBytes;
  readonly #commits: GroupCommit;
  readonly #oldest: Statement<Victim>;
  readonly #oldestMessages: Statement<Victim>;
  readonly #oldestMessage: Statement<{ time_ms: number }>;
  readonly #delete: Statement;
  readonly #lastGap: Statement<{ first: number; last: number; reason: GapReason }>;
  readonly #insertGap: Statement;
  readonly #extendGap: Statement;
  readonly #deleteGaps: Statement;
  readonly #shortenGap: Statement;
  readonly #oldKeys: Statement;
  readonly #oldTraces: Statement;
  readonly #closedChannels: Statement<ClosedChannel>;
  readonly #purgeSlices: readonly Statement[];
  readonly #purgeRest: readonly Statement[];
  readonly #purgeById: readonly Statement[];

  constructor(database: Database, { heads, logBytes }: LogTrimmerDeps, commits: GroupCommit) {
    this.#heads = heads;
    this.#logBytes = logBytes;
    this.#commits = commits;
    // length() of a BLOB does not read it.
    const victims = (condition: string): Statement<Victim> =>
      database.prepare(`
        SELECT number, sequence, kind = 'message' AS message, length(body) AS bytes FROM entry
        WHERE channel = ? AND sequence > ? AND sequence <= ? ${condition} ORDER BY sequence LIMIT ${sliceRows}`);
    this.#oldest = victims("");
    this.#oldestMessages = victims("AND kind = 'message'");
    this.#oldestMessage = database.prepare(`
      SELECT time_ms FROM entry WHERE channel = ? AND sequence > ? AND kind = 'message' ORDER BY sequence LIMIT 1`);
    this.#delete = database.prepare("DELETE FROM entry WHERE number = ?");
    this.#lastGap = database.prepare(`
      SELECT first, last, reason FROM gap WHERE channel = ? AND first < ? ORDER BY first DESC LIMIT 1`);
    this.#insertGap = database.prepare(
      "INSERT INTO gap (channel, first, last, reason) VALUES (?, ?, ?, ?)",
    );
    this.#extendGap = database.prepare("UPDATE gap SET last = ? WHERE channel = ? AND first = ?");
    this.#deleteGaps = database.prepare("DELETE FROM gap WHERE channel = ? AND last <= ?");
    this.#shortenGap = database.prepare(
      "UPDATE gap SET first = ?2 + 1 WHERE channel = ?1 AND first <= ?2",
    );
    // Their numbers are in the order in which they came. One from the time of a clock that was
    // ahead holds those behind it.
    this.#oldKeys = database.prepare(`
      DELETE FROM entry_key WHERE number IN
        (SELECT number FROM (SELECT number, time_ms FROM entry_key ORDER BY number LIMIT ${sliceRows}) WHERE time_ms < ?)`);
    this.#oldTraces = database.prepare(`
      DELETE FROM commit_trace WHERE (channel, epoch) IN
        (SELECT channel, epoch FROM commit_trace WHERE time_ms < ? LIMIT ${sliceRows})`);
    // The last entry is the end itself, and nobody waits for who sent it.
    this.#closedChannels = database.prepare(`
      SELECT id, number, closed_at_ms AS closedAtMs,
        EXISTS (SELECT 1 FROM cursor WHERE cursor.channel = channel.number AND consumed < head AND agent <> coalesce(
          (SELECT sender FROM entry WHERE entry.channel = channel.number AND sequence = head), '')) AS unread
      FROM channel
      WHERE closed_at_ms IS NOT NULL AND (closed_at_ms, number) > (?, ?) AND closed_at_ms < ?
      ORDER BY closed_at_ms, number LIMIT ${sliceRows}`);
    this.#purgeSlices = [["entry_key", "key"], ["commit_trace", "epoch"], ["gap", "first"], [
      "cursor",
      "agent",
    ]].map(
      ([table, key]) =>
        database.prepare(`
          DELETE FROM ${table} WHERE channel = ?1 AND ${key} IN
            (SELECT ${key} FROM ${table} WHERE channel = ?1 LIMIT ${sliceRows})`),
    );
    this.#purgeById = [["listing", "agent"], ["record", "revision"]].map(([table, key]) =>
      database.prepare(`
        DELETE FROM ${table} WHERE channel_id = ?1 AND ${key} IN
          (SELECT ${key} FROM ${table} WHERE channel_id = ?1 LIMIT ${sliceRows})`)
    );
    this.#purgeRest = [
      database.prepare("DELETE FROM snapshot WHERE channel = ?"),
      database.prepare("DELETE FROM channel WHERE number = ?"),
    ];
  }

  /**
   * Deletes entries up to a position that everybody has passed, but none that the last snapshot
   * does not include.
   */
  trim(channelId: ChannelId, through: number): Promise<void> {
    return this.#inSlices(() => this.trimSlice(channelId, through));
  }

  /** Inside a group, like all slices. */
  trimSlice(channelId: ChannelId, through: number): SliceResult {
    const channel = this.#heads.find(channelId);
    if (channel === undefined) return "done";
    const last = Math.min(through, channel.snapshotSequence);
    const { victims, full } = takeSlice(this.#oldest.all(channel.number, 0, last));
    this.#deleteEntries(channel, victims);
    if (full) return "full";
    this.#deleteGaps.run(channel.number, last);
    this.#shortenGap.run(channel.number, last);
    return "done";
  }

  /** Messages up to a position give way to gaps. */
  dropMessages(channelId: ChannelId, through: number, reason: GapReason): Promise<void> {
    return this.#inSlices(() => this.dropSlice(channelId, through, reason));
  }

  dropSlice(channelId: ChannelId, through: number, reason: GapReason): SliceResult {
    const channel = this.#heads.find(channelId);
    if (channel === undefined || channel.messages === 0) return "done";
    const { victims, full } = takeSlice(
      this.#oldestMessages.all(channel.number, channel.messagesAfter, through),
    );
    this.#deleteEntries(channel, victims);
    for (const run of runsOf(victims)) this.#addGap(channel, run, reason);
    return full ? "full" : "done";
  }

  async forget({ keysMs, commitsMs, readMs, closedMs }: ForgetBefore): Promise<void> {
    await this.#inSlices(() => this.#oldKeys.run(keysMs) === sliceRows ? "full" : "done");
    await this.#inSlices(() => this.#oldTraces.run(commitsMs) === sliceRows ? "full" : "done");
    for (let passed = { closedAtMs: -1, number: 0 };;) {
      const { closedAtMs, number } = passed;
      const candidates = await this.#commits.read(() =>
        this.#closedChannels.all(closedAtMs, number, Math.max(readMs, closedMs))
      );
      for (const { id, closedAtMs, unread } of candidates) {
        const isOver = closedAtMs === purging || closedAtMs < closedMs ||
          (unread === 0 && closedAtMs < readMs);
        if (isOver) await this.purge(id);
      }
      passed = candidates.at(-1) ?? passed;
      if (candidates.length < sliceRows) return;
      await nextTurn();
    }
  }

  purge(channelId: ChannelId): Promise<void> {
    return this.#inSlices(() => this.purgeSlice(channelId));
  }

  purgeSlice(channelId: ChannelId): SliceResult {
    const channel = this.#heads.find(channelId);
    return channel?.closedAtMs === undefined ? "done" : this.#purgeSlice(channel);
  }

  async #inSlices(slice: () => SliceResult): Promise<void> {
    for (;;) {
      const result = await this.#commits.write(slice);
      if (result === "done") return;
      await nextTurn();
    }
  }

  #deleteEntries(channel: ChannelHead, victims: readonly Victim[]): void {
    if (victims.length === 0) return;
    for (const { number, sequence, message, bytes } of victims) {
      this.#delete.run(number);
      this.#logBytes.changed(channel, -bytes, message === 1);
      if (message === 0) continue;
      channel.messages--;
      channel.messageBytes -= bytes;
      channel.messagesAfter = Math.max(channel.messagesAfter, sequence);
    }
    this.#heads.changed(channel);
    const oldest = channel.messages === 0
      ? undefined
      : this.#oldestMessage.get(channel.number, channel.messagesAfter);
    this.#heads.setOldest(channel, oldest?.time_ms);
  }

  /** Sequences are dense, so two gaps are neighbours exactly when no entry stands between them. */
  #addGap({ number }: ChannelHead, { first, last }: SequenceRange, reason: GapReason): void {
    const gap = this.#lastGap.get(number, first);
    if (gap?.last === first - 1 && gap.reason === reason) {
      this.#extendGap.run(last, number, gap.first);
    } else this.#insertGap.run(number, first, last, reason);
  }

  /**
   * The channel's own row goes last, and says from the first slice on that it is being purged: what
   * told that everybody has read it is gone then. So a purge that was interrupted is taken up
   * again.
   */
  #purgeSlice(channel: ChannelHead): SliceResult {
    if (channel.closedAtMs !== purging) this.#heads.close(channel, purging);
    const { victims, full } = takeSlice(this.#oldest.all(channel.number, 0, channel.head));
    this.#deleteEntries(channel, victims);
    if (full || this.#purgeById.some((purge) => purge.run(channel.channelId) === sliceRows)) {
      return "full";
    }
    if (this.#purgeSlices.some((purge) => purge.run(channel.number) === sliceRows)) return "full";
    for (const purge of this.#purgeRest) purge.run(channel.number);
    // The channel's members and records are still counted.
    this.#logBytes.accountChanged(channel.account, -bytesPerChannel - channel.otherBytes);
    this.#heads.forget(channel.channelId);
    return "done";
  }
}

/** Ranges without an entry between. */
function runsOf(victims: readonly Victim[]): SequenceRange[] {
  const runs: SequenceRange[] = [];
  for (const { sequence } of victims) {
    const run = runs.at(-1);
    if (run?.last === sequence - 1) run.last = sequence;
    else runs.push({ first: sequence, last: sequence });
  }
  return runs;
}

/** At least one, then up to the slice's size. */
function takeSlice(
  candidates: readonly Victim[],
): { readonly victims: readonly Victim[]; readonly full: boolean } {
  let bytes = 0;
  const end = candidates.findIndex((victim, index) =>
    (bytes += victim.bytes) > sliceBytes && index > 0
  );
  return {
    victims: end < 0 ? candidates : candidates.slice(0, end),
    full: end >= 0 || candidates.length === sliceRows,
  };
}
