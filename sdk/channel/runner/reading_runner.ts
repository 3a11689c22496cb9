/**
 * Carries out what `stepReading` says: opens messages, follows commits, asks the log, and tells the channel. The link gives it one
 * entry after the other. A message waits for one promise, that of the group's queue.
 */
import type { AgentId, NoticeBody } from "../../../proto/mod.ts";
import { StaticError } from "../../base/errors.ts";
import { isHandedOn } from "../../content/incoming.ts";
import { ChainForks } from "../../mls/chain_forks.ts";
import type { Received } from "../../mls/durable_group.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { Permit } from "../connection/permit.ts";
import type { CommitPlace, Followed } from "../membership.ts";
import { isAfterEnd } from "../reading/endings.ts";
import type { LogPosition, OwnCommit } from "../reading/log_place.ts";
import { stepReading } from "../reading/reading.ts";
import {
  type FollowedAs,
  landmarksOf,
  type LogEntry,
  oldestEpochOf,
  positionOf,
  type ReadingEffect,
  type ReadingEvent,
  type ReadingFacts,
  type ReadingRecords,
  type ReadingState,
  restoreReading,
  type Statement,
} from "../reading/reading_state.ts";
import { type LeaveProof, putLandmarks } from "../records.ts";
import type { InboxItem } from "./inbox_runner.ts";
import { aadOf, Intake, type IntakeParts } from "./intake.ts";
import type { Noted } from "./position_runner.ts";
import { factsOf, type Genuine, headerOf, type ReadingRunnerParts } from "./reading_parts.ts";

export class ReadingRunner {
  readonly #parts: ReadingRunnerParts;
  readonly #state: ReadingState;
  readonly #facts: ReadingFacts;
  readonly #intake: Intake;
  #forks = new ChainForks();
  /** Which is being read. */
  #entry: LogEntry | undefined;
  #received: Received | undefined;

  constructor(records: ReadingRecords, parts: ReadingRunnerParts) {
    this.#parts = parts;
    this.#state = restoreReading(records, parts.nowMs());
    this.#facts = factsOf(parts);
    const isAfter: IntakeParts["isAfterEnd"] = (sender, counted) => isAfterEnd(this.#state.endings, sender, counted);
    this.#intake = new Intake({ ...parts, isAfterEnd: isAfter });
    parts.membership.onCommit((commit) => this.#moved(commit));
  }

  /** The last entry that was read; undefined when the relay knows better. */
  get received(): number | undefined {
    return this.#state.place.received;
  }

  /** The latest commit of ours that is kept. */
  get ownCommit(): OwnCommit | undefined {
    return this.#state.place.own.at(-1);
  }

  get isPassingOver(): boolean {
    return this.#state.passedOver !== undefined;
  }

  /** The application is done with everything up to here. */
  get position(): LogPosition {
    return positionOf(this.#state, this.#facts);
  }

  /** Keys of epochs before this one are of no use any more. */
  get oldestEpoch(): number {
    return oldestEpochOf(this.#state, this.#facts);
  }

  /** The changes to write when the application is done with these. */
  changesOf(items: readonly InboxItem[]): RecordChange[] {
    return this.#intake.changesOf(items);
  }

  /** Resolves when nothing of it is left to do. */
  read(entry: LogEntry, permit: Permit | undefined): Promise<void> | undefined {
    this.#entry = entry;
    return this.#step({ type: "entry", entry, permit });
  }

  /** Where the relay says that we are, and where the log ends. */
  begin(after: number, head: number): void {
    this.#tell({ type: "begins", after, head });
  }

  /** The relay's log is not where we left it: it says where to go on. */
  lose(): void {
    this.#tell({ type: "lost" });
    this.#parts.order.lost();
  }

  /** There is room again: the log goes on with what was passed over. */
  resumeReading(): void {
    this.#tell({ type: "room" });
  }

  /** A new generation that our group is in begins behind this entry; what stood before it and was not read is passed over. */
  founded({ sequence, epoch }: Pick<OwnCommit, "sequence" | "epoch">): void {
    this.#tell({ type: "founded", sequence, epoch });
  }

  /** A new membership, which begins behind this entry. */
  restart(received: number): void {
    this.#parts.senders.clear();
    this.#tell({ type: "restarted", received, epoch: this.#facts.epoch });
    this.#parts.order.entered(received);
  }

  #tell(event: ReadingEvent): void {
    void this.#step(event);
  }

  /** The landmarks are written together with the commit. */
  #moved({ own, sequence, epoch, hash, removed, silenced, founded, signed }: CommitPlace): RecordChange[] {
    if (own && founded === undefined) this.#parts.order.moved(sequence, epoch + 1);
    const by = { isOwn: own, sequence, epoch, silent: [...removed, ...silenced], founded };
    const { isLandmark } = stepReading(
      this.#state,
      { type: "moved", by: { ...by, hash: signed && hash } },
      this.#facts,
    );
    return isLandmark ? [this.#landmarks()] : [];
  }

  #landmarks(): RecordChange {
    return putLandmarks(this.#parts.membership.channelId, landmarksOf(this.#state));
  }

  /** At once, as long as nothing has to be waited for. Of a step, what is waited for comes last. */
  #step(event: ReadingEvent): Promise<void> | undefined {
    const { effects } = stepReading(this.#state, event, this.#facts);
    for (let at = 0; at < effects.length; at++) {
      const effect = effects[at];
      const waits = effect && this.#perform(effect);
      if (waits !== undefined) return at + 1 === effects.length ? waits : this.#performAfter(waits, effects, at + 1);
    }
    return undefined;
  }

  async #performAfter(waits: Promise<void>, effects: readonly ReadingEffect[], from: number): Promise<void> {
    await waits;
    for (const effect of effects.slice(from)) await this.#perform(effect);
  }

  /** Those of every message first. */
  #perform(effect: ReadingEffect): Promise<void> | undefined {
    switch (effect.type) {
      case "open":
        return this.#open(effect.job);
      case "take":
        return this.#take();
      case "passed":
        // As they are when they are written: a commit of ours may be accepted before that, and writes them itself.
        this.#parts.onDone(effect.isLandmark ? [() => this.#landmarks()] : none);
        return this.#passed();
      default:
        return this.#performRare(effect);
    }
  }

  /** Entries that are passed over are none that were seen. */
  #passed(): undefined {
    const { place: { received, epoch }, passedOver } = this.#state;
    if (received === undefined || passedOver !== undefined) return;
    this.#parts.order.passed({ sequence: received, epoch }, this.#entry);
  }

  #performRare(effect: Exclude<ReadingEffect, { type: "open" | "take" | "passed" }>): Promise<void> | undefined {
    const { health, inbox, found } = this.#parts;
    switch (effect.type) {
      case "follow":
        return this.#follow(effect.job);
      case "explain":
        return this.#explain(effect.job);
      case "find":
        return this.#find(effect.job, effect.epoch);
      case "look_ahead":
        return this.#lookAhead(effect.job);
      case "forget_ahead":
        this.#forks = new ChainForks();
        return void inbox.handedAhead.clear();
      case "note_leave":
      case "note_lapse":
        return this.#note(effect.job);
      case "enter":
        return this.#enter(effect.job, effect.verdict);
      case "repeated":
        return this.#reportRepeated();
      case "unreadable":
        return void health.unreadableFrom(effect.sender, effect.reason);
      case "report":
        return void health.report(effect.kind, effect.text, effect.about === undefined ? {} : { about: effect.about });
      case "gap":
        return this.#reportGap(effect.messages, effect.reason);
      case "finding":
        return found({ from: "reading", finding: effect.finding });
    }
  }

  async #open(job: number): Promise<void> {
    const { ciphertext } = this.#body("DeliverMessage");
    this.#received = await this.#parts.membership.durable.receive(ciphertext, asMessage);
    const rest = this.#step({ type: "opened", job, as: this.#received.outcome });
    if (rest !== undefined) await rest;
  }

  #take(): undefined {
    const { outcome, receipt } = this.#received ?? {};
    if (outcome?.kind === "message" && receipt !== undefined) {
      this.#intake.take(this.#body("DeliverMessage"), outcome, receipt);
    }
    return undefined;
  }

  async #follow(job: number): Promise<void> {
    const as = followedAs(await this.#parts.membership.follow(this.#body("DeliverCommit")), this.#parts.agentId);
    await this.#step({ type: "followed", job, as });
  }

  async #explain(job: number): Promise<void> {
    await this.#step({ type: "explained", job, as: await this.#parts.commits.explain() });
  }

  async #find(job: number, epoch: number): Promise<void> {
    await this.#step(await this.#answer(job, epoch));
  }

  async #answer(job: number, epoch: number): Promise<ReadingEvent> {
    try {
      return { type: "found", job, found: await this.#parts.membership.findCommit(epoch) };
    } catch (error) {
      // Anything but a refusal is a fault of ours.
      if (!(error instanceof StaticError)) throw error;
      return { type: "unheard", job };
    }
  }

  /** A request or a reply among messages that are passed over because nobody reads: a handler does not starve behind them. */
  async #lookAhead(job: number): Promise<void> {
    const { membership, inbox, agentId } = this.#parts;
    const body = this.#body("DeliverMessage");
    const outcome = await membership.durable.preview(body.ciphertext, {
      forks: this.#forks,
      sender: body.sender,
      isWanted: (payload) => isHandedOn(payload, agentId),
    });
    const found = outcome?.kind === "message" ? this.#intake.preview(body, outcome) : undefined;
    if (found !== undefined) inbox.handAhead(found);
    await this.#step({ type: "done", job });
  }

  async #note(job: number): Promise<void> {
    const { membership } = this.#parts;
    const entry = this.#statement();
    if (entry.operation === "DeliverLapse") {
      await membership.noteLapse(entry.body);
      return await this.#step({ type: "noted", job });
    }
    await this.#step({ type: "noted", job, worth: await membership.noteLeave(leaveOf(entry.body)) });
  }

  async #enter(job: number, verdict: Genuine): Promise<void> {
    await this.#parts.enter(this.#body("DeliverFounding"), verdict);
    await this.#step({ type: "done", job });
  }

  #reportRepeated(): undefined {
    const { sender, epoch, ciphertext } = this.#body("DeliverMessage");
    const header = headerOf(ciphertext);
    this.#intake.reportRepeated(sender, { epoch, aad: header && aadOf(header) });
    return undefined;
  }

  #reportGap(messages: number, reason: NoticeBody<"DeliverGap">["reason"]): undefined {
    const { health } = this.#parts;
    const why = reason === "age" ? "were too old" : "were too many";
    health.report("dropped_by_relay", `The relay gave up ${messages} messages that ${why}`, {
      about: reason,
      count: messages,
    });
    health.tell({ type: "gap", messages, reason });
    return undefined;
  }

  #body<O extends LogEntry["operation"]>(operation: O): NoticeBody<O> {
    if (this.#entry?.operation !== operation) throw new Error(`no ${operation} is being read`);
    // cast: the body of this operation
    return this.#entry.body as NoticeBody<O>;
  }

  #statement(): Statement {
    const entry = this.#entry;
    if (entry?.operation === "DeliverLeave" || entry?.operation === "DeliverLapse") return entry;
    throw new Error("no statement is being read");
  }
}

const none: readonly Noted[] = Object.freeze([]);
const asMessage = (): string => "It came as a message and not as a commit";

function followedAs(outcome: Followed, agentId: AgentId): FollowedAs {
  switch (outcome.kind) {
    case "commit":
    case "unsigned":
    case "forked":
    case "own":
      return outcome;
    case "removed":
      return { kind: "removed", isAgain: outcome.summary.added.includes(agentId) };
    case "refused":
    case "undecryptable":
      return { kind: "refused", reason: outcome.reason };
    default:
      return { kind: "misattributed" };
  }
}

function leaveOf({ sender: agentId, leafHash, signature }: NoticeBody<"DeliverLeave">): LeaveProof {
  return { agentId, leafHash, signature };
}
