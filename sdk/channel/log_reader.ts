/**
 * Reads a channel's log: messages to the inbox, commits to the group. The relay is not believed: what MLS does not open is
 * not shown, what was shown is not shown again, what is missing is fetched once more and then reported. That we are out of step
 * is concluded from commits alone: a message that does not open is its sender's fault or the relay's, however many there are.
 * Long because it is one list of what an entry may be, and every case ends in the same few ways.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  equalBytes,
  type NoticeBody,
  type PrivateMessageHeader,
  readPrivateMessageHeader,
  WireError,
} from "../../proto/mod.ts";
import { StaticError } from "../base/errors.ts";
import type { Outcome } from "../mls/receive.ts";
import type { RecordChange } from "../store/mod.ts";
import { type Ending, Endings } from "./endings.ts";
import type { FetchBudget } from "./fetch_budget.ts";
import type { HealthLog } from "./health.ts";
import type { InboxItem, InboxRunner } from "./runner/inbox_runner.ts";
import { aadOf, Intake, type IntakeParts } from "./intake.ts";
import { Lookahead } from "./lookahead.ts";
import { type EpochVerdict, LogPlace, type LogPosition, type OwnCommit } from "./log_place.ts";
import type { CommitPlace, Followed, Membership } from "./membership.ts";
import type { Noted } from "./runner/position_runner.ts";
import { type Landmarks, putLandmarks } from "./records.ts";
import type { CommitRunner } from "./runner/commit_runner.ts";
import type { Senders } from "./senders.ts";
import { fetchAgain, ok, type Verdict } from "./verdict.ts";

type DeliverMessage = NoticeBody<"DeliverMessage">;
type DeliverCommit = NoticeBody<"DeliverCommit">;
type NotFollowed = "forked" | "own" | "refused" | "undecryptable";
type Refusal = Outcome & { readonly kind: "refused" | "undecryptable" };

const forged: Refusal = { kind: "undecryptable", reason: "It claims to be a commit of this agent" };

export interface LogReaderParts {
  readonly membership: Membership;
  readonly commits: Pick<CommitRunner, "explain" | "adds">;
  readonly senders: Senders;
  readonly inbox: InboxRunner;
  readonly health: HealthLog;
  readonly budget: FetchBudget;
  readonly agentId: AgentId;
  readonly relayNowMs: () => number;
  readonly nameOf: IntakeParts["nameOf"];
  readonly maxAgeMs: () => number;
  readonly discard: boolean;
  readonly onDone: (changes: readonly Noted[]) => void;
  readonly confirmations: IntakeParts["confirmations"];
  /** The position that is on disk. */
  readonly durable: () => number;
}

/** Where reading begins. */
export interface ReadingStart {
  /** Undefined when the relay knows better: just joined. */
  readonly position: LogPosition | undefined;
  readonly landmarks: Landmarks;
  readonly joinedEpoch: number;
}

export class LogReader {
  readonly #parts: LogReaderParts;
  readonly #place: LogPlace;
  readonly #endings: Endings;
  readonly #intake: Intake;
  readonly #lookahead: Lookahead;
  /** Messages from here on were passed over because the inbox was full. */
  #passedOver: { readonly sequence: number; readonly epoch: number } | undefined;
  /** The highest counters of messages that were passed over, as their headers say. */
  readonly #passedCounters = new Map<AgentId, number>();
  /** The entry for which the log was last fetched again: once is enough. */
  #fetchedAgainFor: number | undefined;
  /** The log was not where we left it: up to here it may hold what we have read before. */
  #againUntil = 0;

  constructor({ position, landmarks, joinedEpoch }: ReadingStart, parts: LogReaderParts) {
    const epoch = position === undefined ? joinedEpoch : position.epoch;
    this.#place = new LogPlace(position?.sequence, epoch, landmarks.ownCommits);
    this.#endings = new Endings(landmarks.endings);
    this.#parts = parts;
    this.#intake = new Intake({ ...parts, endings: this.#endings });
    this.#lookahead = new Lookahead({ ...parts, intake: this.#intake });
    parts.membership.onCommit((commit) => this.#noteCommit(commit));
  }

  get received(): number | undefined {
    return this.#place.received;
  }

  /** The latest commit of ours that is kept. */
  get ownCommit(): OwnCommit | undefined {
    return this.#place.ownCommits.at(-1);
  }

  get isPassingOver(): boolean {
    return this.#passedOver !== undefined;
  }

  /** The application is done with everything up to here. */
  get position(): LogPosition {
    const next = this.#parts.inbox.oldest ?? this.#passedOver;
    const reached = this.#place.position;
    if (next === undefined || next.sequence > reached.sequence) return reached;
    // The oldest unprocessed entry has the log's epoch at its place; an unknown epoch stays unknown.
    return { sequence: next.sequence - 1, epoch: reached.epoch === undefined ? undefined : next.epoch };
  }

  /** Keys of epochs before this one are of no use any more. */
  get oldestEpoch(): number {
    const { inbox, membership } = this.#parts;
    return inbox.oldest?.epoch ?? this.#passedOver?.epoch ?? Math.min(this.#place.epoch, membership.epoch);
  }

  /** A new membership, which begins behind this entry. */
  restart(received: number): void {
    this.#place.restart(received, this.#parts.membership.epoch);
    this.#endings.clear();
    this.#passedOver = undefined;
    this.#passedCounters.clear();
    this.#lookahead.restart();
    this.#fetchedAgainFor = undefined;
  }

  /** The relay's log is not where we left it: it says where to go on. */
  lose(): void {
    this.#place.lose((this.#parts.inbox.oldest ?? this.#passedOver)?.epoch);
    this.#passedOver = undefined;
    this.#passedCounters.clear();
    this.#lookahead.restart();
    this.#fetchedAgainFor = undefined;
  }

  /** There is room again: the log goes on with what was passed over. */
  resumeReading(): void {
    if (this.#passedOver === undefined) return;
    const { sequence, epoch } = this.#passedOver;
    this.#place.rewind({ sequence: sequence - 1, epoch });
    this.#passedOver = undefined;
    this.#passedCounters.clear();
  }

  /** Where the relay says that we are, and where the log ends. */
  begin(after: number, head: number): void {
    if (this.#place.received !== undefined) return;
    this.#againUntil = head;
    this.#pass({ sequence: after });
  }

  /** An entry that is about no member. Returns whether it may be looked at. */
  other(sequence: number): boolean {
    if (!this.#rises({ sequence })) return false;
    this.#pass({ sequence });
    return true;
  }

  /** A statement about a member. Returns undefined when it may be looked at. */
  async about(agentId: AgentId, sequence: number): Promise<Verdict | undefined> {
    if (!this.#rises({ sequence })) return ok;
    const { commits } = this.#parts;
    // The relay may have taken a commit of ours though nobody has told us yet: then the statement is about a leaf that we do not know.
    if (commits.adds(agentId) && await commits.explain() === "unknown") return this.#unexplained();
    this.#pass({ sequence });
    return undefined;
  }

  /** Whether an entry comes after all that were processed. */
  rises(sequence: number): boolean {
    return this.#rises({ sequence });
  }

  /** A new generation that our group is in begins behind this entry; what stood before it and was not read is passed over. */
  founded({ sequence, epoch }: Pick<OwnCommit, "sequence" | "epoch">): void {
    this.#pass({ sequence }, epoch + 1);
    this.#parts.onDone([() => this.#landmarks()]);
  }

  /** The changes to write when the application is done with these. */
  changesOf(items: readonly InboxItem[]): RecordChange[] {
    return this.#intake.changesOf(items);
  }

  async message(entry: DeliverMessage): Promise<Verdict> {
    if (!this.#rises(entry)) return this.#backwards();
    const verdict = await this.#epochOf(entry);
    if (verdict === "unknown") return this.#unexplained();
    if (verdict === "ahead") return await this.#ahead(entry);
    const header = headerOf(entry.ciphertext);
    if (verdict === "over") {
      if (header !== undefined) this.#reportTooLate(entry, header);
      return this.#over(entry, "a message");
    }
    if (header === undefined) return this.#unreadable(entry, "it is not an MLS message");
    if (header.epoch !== entry.epoch) return this.#lied(entry, "a message under another epoch than its own");
    if (this.#isPassedOver(entry, header)) {
      await this.#lookahead.look(entry);
      return this.#done(entry, entry.epoch);
    }
    this.#lookahead.reached(entry.sequence);
    if (this.#announcesGap(entry, header) && this.#mayFetchAgainFor(entry)) return fetchAgain();
    const { outcome, receipt } = await this.#parts.membership.durable.receive(
      entry.ciphertext,
      () => "It came as a message and not as a commit",
    );
    switch (outcome.kind) {
      case "message":
        if (receipt !== undefined) this.#intake.take(entry, outcome, receipt);
        return this.#done(entry, entry.epoch);
      case "own":
        if (entry.sender === this.#parts.agentId) return this.#done(entry, entry.epoch);
        return this.#unreadable(entry, "it claims to be of this agent");
      case "duplicate":
        this.#intake.reportRepeated(entry.sender, { epoch: entry.epoch, aad: aadOf(header) });
        return this.#done(entry, entry.epoch);
      case "stale":
        this.#reportStale(entry);
        return this.#done(entry, entry.epoch);
      case "undecryptable":
        return this.#unreadable(entry, outcome.reason);
      default:
        return this.#lied(entry, "something else as a message");
    }
  }

  async commit(entry: DeliverCommit): Promise<Verdict> {
    if (!this.#rises(entry)) return this.#backwards();
    for (;;) {
      const own = this.#place.ownCommitOf(entry.epoch);
      if (own !== undefined) return await this.#contradicts(entry, own);
      const verdict = await this.#epochOf(entry);
      if (verdict === "unknown") return this.#unexplained();
      if (verdict === "ahead") return await this.#ahead(entry);
      if (verdict === "over") return this.#over(entry, "a commit");
      // We have followed it before, as far as the relay can be believed.
      if (entry.epoch < this.#parts.membership.epoch) return this.#done(entry, entry.epoch + 1);
      const header = headerOf(entry.commit);
      const outcome = header?.epoch === entry.epoch
        ? await this.#parts.membership.follow(entry)
        : { kind: "misattributed" } as const;
      switch (outcome.kind) {
        case "commit":
          return this.#done(entry, outcome.epoch);
        case "removed":
          return { kind: "removed", again: outcome.summary.added.includes(this.#parts.agentId) };
        case "unsigned":
          return this.#unsigned(entry);
        case "misattributed":
          return await this.#misattributed(entry);
        case "forked":
        case "own":
        case "refused":
        case "undecryptable": {
          const as = await this.#parts.commits.explain();
          if (as === "settled") continue;
          return as === "unknown" ? this.#unexplained() : this.#notFollowed(entry, outcome);
        }
        default:
          return await this.#misattributed(entry);
      }
    }
  }

  /** No commit of ours is why. */
  #notFollowed(entry: DeliverCommit, outcome: Extract<Followed, { kind: NotFollowed }>): Verdict {
    if (outcome.kind === "forked") return this.#forked(entry);
    if (outcome.kind !== "own") return this.#refused(entry, outcome);
    if (entry.sender !== this.#parts.agentId) return this.#refused(entry, forged);
    return { kind: "out_of_step", reason: "a commit of ours was taken that this agent no longer knows" };
  }

  /** Read from the clear header, before any key is used: the entry will come again in order. */
  #announcesGap({ sender, epoch }: DeliverMessage, header: PrivateMessageHeader): boolean {
    const aad = aadOf(header);
    return aad !== undefined && this.#parts.senders.judge(sender, { ...aad, epoch }) === "gap";
  }

  #isPassedOver({ sequence, sender, epoch }: DeliverMessage, header: PrivateMessageHeader): boolean {
    const { inbox, discard } = this.#parts;
    if (!discard && inbox.isFull && this.#passedOver === undefined) {
      this.#passedOver = { sequence, epoch };
      if (!inbox.isRead) this.#reportUnread();
    }
    if (this.#passedOver === undefined) return false;
    const aad = aadOf(header);
    const last = aad === undefined ? 0 : aad.counter + aad.count - 1;
    this.#passedCounters.set(sender, Math.max(last, this.#passedCounters.get(sender) ?? 0));
    return true;
  }

  #reportUnread(): void {
    const text =
      `${this.#parts.inbox.unread} messages wait and nobody reads them: later ones stay at the relay, which keeps them ` +
      "for a limited time; read messages(), or open the channel with { receive: false } to have none";
    this.#parts.health.report("unread_messages", text, { about: "this agent" });
  }

  /** The effect of a commit on reading the log again, to be written together with the commit. */
  #noteCommit({ own, sequence, epoch, hash, removed, silenced, founded }: CommitPlace): RecordChange[] {
    if (own) this.#place.accepted({ sequence, epoch, hash }, this.#parts.durable());
    // The relay delivers a founding of ours to us no more than a commit.
    if (founded !== undefined) this.#place.accepted(founded, this.#parts.durable());
    const ended = [...removed, ...silenced];
    this.#endings.add(ended.map((agentId) => {
      const ending = { agentId, epoch: epoch + 1, sequence, last: undefined };
      return own ? ending : { ...ending, last: this.#lastOf(ending) };
    }));
    return own || founded !== undefined || ended.length > 0 ? [this.#landmarks()] : [];
  }

  /** The highest counter that was delivered of a membership that ends here. */
  #lastOf({ agentId, epoch }: Ending): number {
    const last = Math.max(this.#parts.senders.highest(agentId, epoch - 1), this.#passedCounters.get(agentId) ?? 0);
    this.#passedCounters.delete(agentId);
    return last;
  }

  #landmarks(): RecordChange {
    const { ownCommits } = this.#place;
    return putLandmarks(this.#parts.membership.channelId, { ownCommits, endings: this.#endings.all });
  }

  /** Without a fetch when the budget is used up: for messages, which are worth no more. */
  #mayFetchAgainFor({ sequence }: { readonly sequence: number }): boolean {
    if (this.#wasFetchedFor({ sequence }) || !this.#parts.budget.take()) return false;
    this.#fetchedAgainFor = sequence;
    return true;
  }

  /** A commit waits for its fetch. */
  #fetchFor({ sequence }: { readonly sequence: number }): Verdict {
    this.#fetchedAgainFor = sequence;
    return fetchAgain(this.#parts.budget.reserve());
  }

  #wasFetchedFor({ sequence }: { readonly sequence: number }): boolean {
    return this.#fetchedAgainFor !== undefined && sequence <= this.#fetchedAgainFor;
  }

  /** Nobody could tell whether a commit of ours is why: the entry comes again, and this was no first time. */
  #unexplained(): Verdict {
    return fetchAgain(this.#parts.budget.reserve());
  }

  #rises({ sequence }: { readonly sequence: number }): boolean {
    if (this.#place.rises(sequence)) return true;
    const text = `The relay delivered entry ${sequence} of the log after a later one`;
    this.#parts.health.report("relay_lied", text, { about: "the order of the log" });
    return false;
  }

  /** The log goes on where we have been: the relay made up the place that we are at, or repeats itself. It is asked. */
  #backwards(): Verdict {
    return this.#parts.budget.take() ? fetchAgain() : ok;
  }

  async #epochOf(entry: DeliverMessage | DeliverCommit): Promise<EpochVerdict | "unknown"> {
    const { membership, commits } = this.#parts;
    const verdict = this.#place.judge(entry, membership.epoch);
    if (verdict !== "ahead") return verdict;
    // A commit of ours may have been taken though nobody has told us yet.
    const as = await commits.explain();
    return as === "unknown" ? as : this.#place.judge(entry, membership.epoch);
  }

  /** An entry of an epoch that has not begun there: a commit is missing before it, or the relay made it up. */
  async #ahead(entry: DeliverMessage | DeliverCommit): Promise<Verdict> {
    if (!this.#wasFetchedFor(entry)) return this.#fetchFor(entry);
    const { membership, health } = this.#parts;
    const { epoch } = membership;
    if (entry.epoch <= epoch && this.#place.epochAt(entry.sequence) < epoch) {
      // Our group has followed the commit that is left out: nothing is lost but the order, and this entry if it is a message. The
      // place moves on, or everything that follows would be refused too.
      const what = "an entry without the commit before it";
      if (!("commit" in entry)) return this.#lied(entry, what, Math.min(entry.epoch, epoch));
      if (entry.epoch < epoch) return this.#lied(entry, what, entry.epoch + 1);
      this.#reportLie(entry, what);
      this.#place.pass(entry.sequence - 1, epoch);
      return await this.commit(entry);
    }
    return await this.#asking(async () => {
      const found = await membership.findCommit(epoch);
      if (found.commit === undefined && found.epoch <= epoch) {
        return this.#lied(entry, "an entry of an epoch that has not begun", epoch);
      }
      const reason = `the relay delivers epoch ${entry.epoch} without the commit that ended epoch ${epoch}`;
      health.report("withheld_commit", reason);
      return { kind: "out_of_step", reason };
    });
  }

  /** A commit of an epoch that a commit of ours has ended, as the relay told us. */
  async #contradicts(entry: DeliverCommit, own: OwnCommit): Promise<Verdict> {
    if (equalBytes(sha256(entry.commit), own.hash)) return this.#done(entry, entry.epoch + 1);
    return await this.#asking(async () => {
      const { commit } = await this.#parts.membership.findCommit(entry.epoch);
      if (commit === undefined || equalBytes(commit.commitHash, own.hash)) {
        return this.#lied(entry, "a commit of an epoch that a commit of ours has ended");
      }
      const reason = `the relay took a commit of ours in epoch ${entry.epoch}, and its log holds another one`;
      this.#parts.health.report("relay_lied", reason);
      return { kind: "out_of_step", reason };
    });
  }

  /** Without an answer nothing is concluded: the entry is fetched, and the question asked, once more. */
  async #asking(ask: () => Promise<Verdict>): Promise<Verdict> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StaticError)) throw error;
      return fetchAgain(this.#parts.budget.reserve());
    }
  }

  #unreadable(entry: DeliverMessage, reason: string): Verdict {
    if (this.#mayFetchAgainFor(entry)) return fetchAgain();
    this.#parts.health.unreadableFrom(entry.sender, reason);
    return this.#done(entry, entry.epoch);
  }

  /** In a log that was set back, what we have read and what was put back comes again; anywhere else it is a lie. */
  #over(entry: { readonly sequence: number }, what: string): Verdict {
    if (entry.sequence <= this.#againUntil) return this.#done(entry);
    return this.#lied(entry, `${what} of an epoch that was over there`);
  }

  /** Of a member that was behind and sent it into a log that was set back: it was never read, and its keys are gone. */
  #reportTooLate({ sequence, sender, epoch }: DeliverMessage, header: PrivateMessageHeader): void {
    const counter = aadOf(header)?.counter;
    if (sequence > this.#againUntil || counter === undefined) return;
    if (this.#parts.senders.judge(sender, { counter, epoch }) === "duplicate") return;
    const text =
      `A message that the relay says is of ${sender} was sent in epoch ${epoch}, which was over for this agent: it cannot ` +
      "be read, ask its sender for it";
    this.#parts.health.report("undecryptable", text, { about: sender });
  }

  #reportStale({ epoch }: DeliverMessage): void {
    const text = `A message of epoch ${epoch} came after its keys were gone`;
    this.#parts.health.report("undecryptable", text, { about: "old epochs" });
  }

  /** The entry is not looked at any further. */
  #lied(entry: { readonly sequence: number }, what: string, epoch?: number): Verdict {
    this.#reportLie(entry, what);
    return this.#done(entry, epoch);
  }

  #reportLie({ sequence }: { readonly sequence: number }, what: string): void {
    const text = `The relay delivered ${what}, at entry ${sequence} of the log`;
    this.#parts.health.report("relay_lied", text, { about: what });
  }

  /**
   * The relay's statement about a commit differs from its sender's: the relay may tell the truth later. Or the sender
   * is not in our group, because the relay gave us another commit than the log's. Ask for the log again.
   */
  async #misattributed(entry: DeliverCommit): Promise<Verdict> {
    const { health, membership } = this.#parts;
    const text = `The relay delivered a commit of ${entry.sender} that differs from the one its sender made`;
    health.report("relay_lied", text);
    const { epoch, group: { parent } } = membership;
    if (!this.#wasFetchedFor(entry) || parent?.base.epoch !== epoch - 1) return this.#fetchFor(entry);
    return await this.#asking(async () => {
      const { commit } = await membership.findCommit(epoch - 1);
      if (commit === undefined || equalBytes(commit.commitHash, parent.commitHash)) return this.#fetchFor(entry);
      const reason = `the relay delivered another commit of epoch ${epoch - 1} to us than its log holds`;
      health.report("relay_lied", reason);
      return { kind: "out_of_step", reason };
    });
  }

  /** A member proves that the log's group has other keys in this epoch than ours: a wrong Welcome or commit led us here. */
  #forked(entry: DeliverCommit): Verdict {
    if (!this.#wasFetchedFor(entry)) return this.#fetchFor(entry);
    const reason = `${entry.sender} signed its commit of epoch ${entry.epoch} for a group with other keys than ours`;
    return { kind: "out_of_step", reason, named: true };
  }

  /** Senders sign their commits: one whose signature the relay took away is as good as withheld. */
  #unsigned(entry: DeliverCommit): Verdict {
    if (!this.#wasFetchedFor(entry)) return this.#fetchFor(entry);
    const reason = `the relay delivers the commit that ended epoch ${entry.epoch} without its sender's signature`;
    this.#parts.health.report("withheld_commit", reason);
    return { kind: "out_of_step", reason };
  }

  /** Its sender signed it so, and it came twice: that is its sender's fault. */
  #refused(entry: DeliverCommit, { reason }: Refusal): Verdict {
    if (!this.#wasFetchedFor(entry)) return this.#fetchFor(entry);
    return { kind: "stopped", commit: entry, reason };
  }

  /** `epoch` is that of the log behind the entry; without it, the same as in front of it. */
  #done(entry: { readonly sequence: number }, epoch?: number): Verdict {
    this.#pass(entry, epoch);
    return ok;
  }

  #pass({ sequence }: { readonly sequence: number }, epoch?: number): void {
    this.#place.pass(sequence, epoch);
    this.#place.settle(this.#parts.membership.epoch);
    const settled = this.#endings.settle(sequence, (ending) => this.#lastOf(ending));
    // As they are when they are written: a commit of ours may be accepted before that, and writes them itself.
    this.#parts.onDone(settled ? [() => this.#landmarks()] : []);
  }
}

function headerOf(message: Uint8Array): PrivateMessageHeader | undefined {
  try {
    return readPrivateMessageHeader(message);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
