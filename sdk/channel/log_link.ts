/**
 * The hold of a channel on the relay's log, from a connection to entries that flow: it settles what was left open, subscribes
 * from where the reader is, compares what the relay says with what we know, and fetches again what did not fit.
 */
import { generationOf, type ReplyBody } from "../../proto/mod.ts";
import { isCode, StaticError } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import type { Serial } from "../base/serial.ts";
import type { Arrival } from "./arrival.ts";
import type { Committer } from "./commits.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Generations } from "./generations.ts";
import type { HealthLog } from "./health.ts";
import type { KeptCommits, Mended } from "./kept_commits.ts";
import type { OwnCommit } from "./log_place.ts";
import type { LogReader } from "./log_reader.ts";
import { findLostCommit, setBack } from "./lost_commit.ts";
import type { Membership } from "./membership.ts";
import type { Progress } from "./progress.ts";
import { putLog } from "./records.ts";
import type { Recovery } from "./recovery.ts";
import type { Rejoiner } from "./rejoin.ts";
import type { Claims, Doubt } from "./store_age.ts";
import type { Subscription } from "./subscription.ts";

const retryMs = 1000;
/** Between two tries to go on that somebody else gives us reasons for. */
const againMs = 5000;

export interface LogLinkParts {
  readonly membership: Membership;
  readonly committer: Committer;
  readonly generations: Generations;
  readonly recovery: Recovery;
  readonly arrival: Arrival;
  readonly rejoiner: Rejoiner;
  readonly reader: LogReader;
  readonly progress: Progress;
  readonly subscription: Subscription;
  readonly kept: KeptCommits;
  readonly health: HealthLog;
  /** One entry after the other, and nothing beside them. */
  readonly entries: Serial;
  /** The channel has ended. */
  readonly ended: AbortSignal;
  /** Returns why our store may be older than what we did. */
  readonly compare: (claims: Claims) => Promise<Doubt | undefined>;
  /** To come back by what the relay alone says, within its budget. */
  readonly byWord: (reason: string) => Doubt;
  /** Entries up to `head` are on their way. */
  readonly onSubscribed: (head: number) => void;
  /** Whether we are on our way back by nothing but what the relay said about its log and us. */
  readonly isByWord: () => boolean;
  /** `byWord`: as above. */
  readonly comeBack: (doubt: Doubt, byWord?: boolean) => void;
  /** The relay says nothing any more that would make us come back. */
  readonly onCleared: () => void;
  readonly goOn: () => void;
  /** The relay does not know us in this channel. */
  readonly onUnknown: () => void;
  /** The relay did not let us subscribe: as after a lost connection. */
  readonly onRefused: () => void;
  readonly onFault: (fault: unknown) => void;
}

export class LogLink {
  readonly #parts: LogLinkParts;
  readonly #deps: ChannelDeps;
  /** The latest commit of ours that the log was asked for. */
  #foundCommit: OwnCommit | undefined;
  /** The place in a log that the relay has no more. */
  #lostAt: number | undefined;
  #connections = 0;
  #relayEpoch = 0;
  #triedMs = 0;
  /** The connection on which we try to go on. */
  #resuming: number | undefined;
  #isUp = false;
  /** The connection that has shown that our store is as new as what we did. */
  #compared = -1;

  constructor(parts: LogLinkParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
  }

  /** Of the log, as the relay said last: it may have been wrong before. */
  get relayEpoch(): number {
    return this.#relayEpoch;
  }

  /** Whether the relay has not been asked for entries yet, or has not agreed. */
  get isAsking(): boolean {
    return this.#resuming !== undefined;
  }

  /** Whether entries flow. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Whether the present connection has shown that our store is as new as what we did. */
  get isCompared(): boolean {
    return this.#compared === this.#connections;
  }

  /** Deliveries from here on belong to an earlier subscription. */
  lose(): void {
    this.#parts.subscription.lost();
    this.#parts.arrival.begin();
    this.#isUp = false;
  }

  /** The channel works with the log as it is. */
  confirm(): void {
    this.#isUp = true;
  }

  /** The session is online (again), or was lost. */
  connection(online: boolean): void {
    const connection = ++this.#connections;
    this.lose();
    // Deliveries of an earlier connection are not read: they come again once the store is compared.
    this.#parts.subscription.abandon();
    if (online && !this.#parts.ended.aborted) this.#begin(connection);
  }

  #begin(connection: number): void {
    this.#resuming = connection;
    this.#resume(connection).catch((fault) => this.#parts.onFault(fault)).finally(() => {
      if (this.#resuming === connection) this.#resuming = undefined;
    });
  }

  /** Something has changed at the relay by which we may go on, though we are on our way back by its word. Now and then. */
  tryAgain(): void {
    const nowMs = this.#deps.runtime.nowMs();
    if (this.#resuming !== undefined || Math.abs(nowMs - this.#triedMs) < againMs) return;
    this.#triedMs = nowMs;
    this.#begin(this.#connections);
  }

  /** Deliveries in the meantime are ignored: they will come again. */
  async fetchAgain(afterMs = 0): Promise<void> {
    if (afterMs === 0) return void await this.reopen();
    this.lose();
    const connection = this.#connections;
    pause(this.#deps.runtime, afterMs, this.#parts.ended)
      .then(() => this.#parts.entries.run(() => this.#isPresent(connection) ? this.reopen() : Promise.resolve(false)))
      .catch((fault) => this.#parts.onFault(fault));
  }

  /** The relay's word that entries begin was lost, or kept back. */
  askAgain(): void {
    const { entries, subscription, onFault } = this.#parts;
    entries.run(() => subscription.live ? Promise.resolve(true) : this.reopen()).catch(onFault);
  }

  /** Returns whether entries come; else they come with the next connection, which lets the channel go on. */
  async reopen(): Promise<boolean> {
    const { ended, rejoiner, recovery, arrival, subscription, reader } = this.#parts;
    if (ended.aborted || (rejoiner.reason !== undefined && recovery.stopped === undefined)) return false;
    if (!this.isCompared) return false;
    arrival.begin();
    try {
      this.#relayEpoch = (await subscription.open(reader.received)).epoch;
      this.#isUp = true;
    } catch (error) {
      if (!(error instanceof StaticError)) throw error;
      this.#parts.onRefused();
    }
    return this.#isUp;
  }

  #isPresent(connection: number): boolean {
    return connection === this.#connections && !this.#parts.ended.aborted;
  }

  /** Settles what a lost connection or a crash left open, then reads on from where we were. */
  async #resume(connection: number): Promise<void> {
    const { comeBack, byWord, onUnknown, ended } = this.#parts;
    const { runtime, session } = this.#deps;
    for (let tries = 0; this.#isPresent(connection); tries++) {
      try {
        return await this.#settle(connection);
      } catch (error) {
        if (isCode(error, "not_found")) return onUnknown();
        if (isCode(error, "membership_lapsed")) return comeBack(byWord(error.message));
        // The relay's log is not where we left it: from where it thinks that we are.
        if (isCode(error, "cursor_invalid")) this.#loseLog();
        if (session.state.kind === "ended") return; // `connection` hears of it
        // Anything but a refusal is a fault of ours. A refusal is only the relay's word, and not a reason to give up.
        if (!(error instanceof StaticError)) throw error;
        this.#parts.subscription.abandon();
        await pause(runtime, jitter(runtime, retryMs * 2 ** Math.min(tries, 5)), ended);
      }
    }
  }

  async #settle(connection: number): Promise<void> {
    const { rejoiner, recovery, committer, entries, isByWord } = this.#parts;
    await entries.run(() => this.#takeBackStop(connection));
    const isStopped = recovery.stopped !== undefined;
    if (!isStopped) rejoiner.hurry();
    // Out of step, none of this is useful, and the rejoin ends with another connection. Conclusions that rest on the
    // relay's word are checked again, because it may have been wrong.
    if (rejoiner.reason !== undefined && !isStopped && !isByWord()) return;
    if (!isStopped) await committer.recover();
    await entries.run(() => this.#subscribe(connection));
    // A founding of ours that is in the log comes first.
    if (isStopped) rejoiner.hurry();
  }

  /** Once for each connection, and before anything comes: entries are read as by a member that is not stopped, or not at all. */
  async #takeBackStop(connection: number): Promise<void> {
    const { recovery, generations, health } = this.#parts;
    if (this.#isPresent(connection) && await recovery.isGone() && this.#isPresent(connection)) {
      const text = await generations.takeBackStop();
      if (text !== undefined) health.report("log_set_back", text);
    }
  }

  /** Nothing is read meanwhile, and nothing is sent before it is certain that our keys are not used ones. */
  async #subscribe(connection: number): Promise<void> {
    const { reader, subscription, membership, generations, recovery, progress, compare, byWord } = this.#parts;
    const { comeBack, onCleared, onSubscribed, goOn } = this.#parts;
    if (!this.#isPresent(connection)) return;
    const reply = await subscription.open(reader.received);
    // First the log itself: one that has lost entries also knows less of what we sent, and says nothing about our store.
    const { received } = reader;
    const isOfBefore = this.#isOfBefore(reply);
    this.#reportLost(reply);
    const mended = await this.#mend(reply.epoch);
    const epoch = reply.epoch + mended.commits;
    // A place of an earlier membership says nothing about commits: this agent, or a copy of it, has come in anew since then.
    const renewed = isOfBefore ? await compare(reply) : undefined;
    const reason = renewed === undefined ? await this.#findLostCommit({ ...reply, epoch }) : undefined;
    if (reason === setBack) {
      this.#loseLog();
      return await this.#subscribe(connection);
    }
    const doubt = renewed ?? (reason === undefined ? await compare(reply) : byWord(reason));
    if (!this.#isPresent(connection)) return;
    this.#compared = doubt === undefined ? connection : -1;
    if (doubt !== undefined) {
      // Nothing of it may be entered with keys of a store that may be old.
      if (reason === undefined) subscription.abandon();
      return comeBack(doubt, true);
    }
    onCleared();
    if (received === undefined) await progress.lose(reply.after);
    // A crash may have come between the write and the acknowledgement.
    else if (progress.durable > reply.consumed) subscription.consumed(progress.durable);
    if (connection !== this.#connections) return;
    // Members that were behind may have sent something meanwhile, so that the last commit stands later than it would.
    reader.begin(reply.after, Math.max(reply.head, mended.sequence));
    this.#parts.arrival.next();
    onSubscribed(reply.head);
    this.#relayEpoch = epoch;
    progress.note(reply.log === undefined ? [] : [putLog(membership.channelId, reply.log)]);
    // Unread messages before the commit come first; the agent asks when it reaches the commit itself.
    const { stopped } = recovery;
    if (stopped === undefined) return goOn();
    // Nothing is left to read before it, so that it may not come at all any more.
    if ((received ?? reply.after) >= stopped.sequence - 1) await generations.settle();
  }

  /** No position of the log before is acknowledged in this one: it would lead past what was never delivered. */
  #loseLog(): void {
    const { reader, progress, subscription } = this.#parts;
    this.#lostAt = reader.received;
    reader.lose();
    progress.forget();
    subscription.forget();
  }

  /** The place that the relay refused stands before the membership that we have by its word. */
  #isOfBefore({ joinedSequence }: Pick<ReplyBody<"Subscribe">, "joinedSequence">): boolean {
    return this.#lostAt !== undefined && this.#lostAt < (joinedSequence ?? 0);
  }

  /** A place that the relay refused was one of this membership: so the log has lost its end. */
  #reportLost(reply: Pick<ReplyBody<"Subscribe">, "joinedSequence">): void {
    const isLost = this.#lostAt !== undefined && !this.#isOfBefore(reply);
    this.#lostAt = undefined;
    if (!isLost) return;
    const text =
      "The relay's log is not where this agent left it, as after a restored backup: messages that were sent " +
      "since then may be lost to members that had not read them";
    this.#parts.health.report("log_set_back", text);
  }

  /** Puts back the commits that a log has lost which was set back. */
  async #mend(epoch: number): Promise<Mended> {
    const { membership, kept, health } = this.#parts;
    const isWhole = epoch >= membership.epoch || generationOf(epoch) !== generationOf(membership.epoch);
    const mended = isWhole ? { commits: 0, own: 0, sequence: 0 } : await kept.putBack(epoch);
    const { commits, own } = mended;
    if (commits === 0) return mended;
    const text =
      `The relay's log ended in epoch ${epoch}, as after a restored backup. It holds ${commits} commits again, of which ` +
      `this agent put ${own} back; messages that were sent since then may be lost to members that had not read them`;
    health.report("log_set_back", text);
    return mended;
  }

  async #findLostCommit(reply: ReplyBody<"Subscribe">): Promise<string | typeof setBack | undefined> {
    const { reader: { received = reply.after, ownCommit }, recovery, membership, health } = this.#parts;
    const own = ownCommit === this.#foundCommit ? undefined : ownCommit;
    await recovery.takeBackForeign(generationOf(reply.epoch));
    const isForeign = recovery.isForeign(generationOf(reply.epoch));
    const reason = isForeign ? undefined : await findLostCommit(reply, { received, own }, { membership, health });
    if (reason === undefined) this.#foundCommit = ownCommit;
    return reason;
  }
}
