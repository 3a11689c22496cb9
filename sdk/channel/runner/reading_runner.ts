/**
 * Carries out what `stepReading` says: opens messages, follows commits, asks the log, and tells the
 * channel. The link gives it one entry after the other, and is told when nothing of it is left to
 * do. A message waits for one promise, that of the group's queue.
 */
import type { AgentId, NoticeBody } from "../../../proto/mod.ts";
import { StaticError } from "../../base/errors.ts";
import { isHandedOn } from "../../content/incoming.ts";
import { ChainForks } from "../../mls/chain_forks.ts";
import type { ReceivedOutcome } from "../../mls/durable_group.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { Permit } from "../connection/permit.ts";
import type { CommitPlace, FollowVerdict } from "../group/followed_commits.ts";
import { isAfterEnd } from "../reading/endings.ts";
import type { LogPosition, OwnCommit } from "../reading/log_place.ts";
import { stepReading } from "../reading/reading.ts";
import {
  type FinishedReadingJob,
  type FollowOutcome,
  landmarksOf,
  type LogEntry,
  type MemberStatement,
  oldestEpochOf,
  positionOf,
  type ReadingEffect,
  type ReadingEvent,
  type ReadingFacts,
  type ReadingRecords,
  type ReadingState,
  restoreReading,
} from "../reading/reading_state.ts";
import { type LeaveProof, putLandmarks } from "../records.ts";
import { follow } from "./group_moves.ts";
import type { InboxItem } from "./inbox_runner.ts";
import type { StepResult, Steps } from "./channel_queue.ts";
import { aadOf, Intake, type IntakeParts } from "./intake.ts";
import type { NotedChange } from "./position_runner.ts";
import {
  factsOf,
  type GenuineVerdict,
  headerOf,
  type ReadingRunnerParts,
} from "./reading_parts.ts";

type EntryEvent = Extract<ReadingEvent, { type: "entry" }>;
/** With the number by which the link knows it. */
type NumberedEvent =
  | Exclude<ReadingEvent, EntryEvent>
  | (EntryEvent & { readonly reading: number });

export class ReadingRunner {
  readonly #parts: ReadingRunnerParts;
  readonly #state: ReadingState;
  readonly #facts: ReadingFacts;
  readonly #intake: Intake;
  #forks = new ChainForks();
  readonly #steps: Steps<NumberedEvent, ReadingEffect>;
  /** Which is being read. */
  #given: Extract<NumberedEvent, EntryEvent> | undefined;
  #received: ReceivedOutcome | undefined;

  constructor(records: ReadingRecords, parts: ReadingRunnerParts) {
    this.#parts = parts;
    this.#state = restoreReading(records, parts.nowMs());
    this.#facts = factsOf(parts);
    const isAfter: IntakeParts["isAfterEnd"] = (sender, counted) =>
      isAfterEnd(this.#state.endings, sender, counted);
    this.#intake = new Intake({ ...parts, isAfterEnd: isAfter });
    this.#steps = parts.queue.add<NumberedEvent, ReadingEffect>({
      step: (event) => event.type === "time" ? nothing : this.#step(event),
      perform: (effect) => this.#perform(effect),
      stepped: () => this.#stepped(),
    });
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
  changesOf(items: readonly InboxItem[]): NotedChange[] {
    return this.#intake.changesOf(items);
  }

  read(entry: LogEntry, permit: Permit | undefined, reading: number): void {
    this.#steps.push({ type: "entry", entry, permit, reading });
  }

  end(): void {
    this.#steps.end();
  }

  /** Where the relay says that we are, and where the log ends. */
  begin(after: number, head: number): void {
    this.#steps.push({ type: "begins", after, head });
  }

  /** The relay's log is not where we left it: it says where to go on. */
  lose(): void {
    this.#steps.push({ type: "lost" });
    this.#parts.order.lost();
  }

  /** There is room again: the log goes on with what was passed over. */
  resumeReading(): void {
    this.#steps.push({ type: "room" });
  }

  /**
   * A new generation that our group is in begins behind this entry; what stood before it and was
   * not read is passed over.
   */
  founded({ sequence, epoch }: Pick<OwnCommit, "sequence" | "epoch">): void {
    this.#steps.push({ type: "founded", sequence, epoch });
  }

  /** A new membership, which begins behind this entry. */
  restart(received: number): void {
    this.#parts.senders.clear();
    this.#steps.pushFirst({ type: "restarted", received, epoch: this.#facts.epoch });
    this.#parts.order.entered(received);
  }

  /** The landmarks are written together with the commit. */
  #moved(
    { own, sequence, epoch, hash, removed, silenced, founded, signed }: CommitPlace,
  ): RecordChange[] {
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

  #step(event: NumberedEvent): StepResult<ReadingEffect> {
    if ("reading" in event) {
      const { isDue, onRead } = this.#parts;
      // The entry has waited for its turn: it may come again since.
      if (!isDue(event.reading)) {
        onRead(event.reading, undefined);
        return nothing;
      }
      this.#given = event;
    }
    return stepReading(this.#state, event, this.#facts);
  }

  #stepped(): void {
    const given = this.#given;
    if (given === undefined || this.#state.reading.at !== "none") return;
    this.#given = undefined;
    this.#parts.onRead(given.reading, given.entry);
  }

  /** Performs the effects of every message; `#performRare` has the others. */
  #perform(effect: ReadingEffect): void {
    switch (effect.type) {
      case "open":
        return this.#open(effect.job);
      case "take":
        return this.#take();
      case "passed":
        // The landmarks are written as they are at that moment: a commit of ours may be accepted
        // before, and writes them itself.
        this.#parts.onDone(effect.isLandmark ? [() => this.#landmarks()] : none);
        return this.#passed();
      default:
        return this.#performRare(effect);
    }
  }

  /** Entries that are passed over are none that were seen. */
  #passed(): void {
    const { place: { received, epoch }, passedOver } = this.#state;
    if (received === undefined || passedOver !== undefined) return;
    this.#parts.order.passed({ sequence: received, epoch }, this.#given?.entry);
  }

  #performRare(effect: Exclude<ReadingEffect, { type: "open" | "take" | "passed" }>): void {
    const { health, inbox, found } = this.#parts;
    switch (effect.type) {
      case "follow":
        return this.#end(this.#follow(effect.job));
      case "explain":
        return this.#end(this.#explain(effect.job));
      case "find":
        return this.#end(this.#find(effect.job, effect.epoch));
      case "look_ahead":
        return this.#end(this.#lookAhead(effect.job));
      case "forget_ahead":
        this.#forks = new ChainForks();
        return inbox.handedAhead.clear();
      case "note_leave":
      case "note_lapse":
        return this.#end(this.#note(effect.job));
      case "enter":
        return this.#end(this.#enter(effect.job, effect.verdict));
      case "repeated":
        return this.#reportRepeated();
      case "unreadable":
        return health.unreadableFrom(effect.sender, effect.reason);
      case "report":
        return health.report(
          effect.kind,
          effect.text,
          effect.about === undefined ? {} : { about: effect.about },
        );
      case "gap":
        return this.#reportGap(effect.messages, effect.reason);
      case "finding":
        return void found({ from: "reading", finding: effect.finding });
    }
  }

  #open(job: number): void {
    const { membership, onFault } = this.#parts;
    membership.durable.receive(this.#body("DeliverMessage").ciphertext, asMessage).then(
      (received) => {
        this.#received = received;
        this.#steps.push({ type: "opened", job, as: received.outcome });
      },
      onFault,
    );
  }

  #take(): void {
    const { outcome, receipt } = this.#received ?? {};
    if (outcome?.kind === "message" && receipt !== undefined) {
      this.#intake.take(this.#body("DeliverMessage"), outcome, receipt);
    }
  }

  /** Makes the end of the work the next event of the entry. */
  #end(work: Promise<FinishedReadingJob>): void {
    work.then((event) => this.#steps.push(event), this.#parts.onFault);
  }

  async #follow(job: number): Promise<FinishedReadingJob> {
    const followed = await follow(this.#body("DeliverCommit"), this.#parts.membership);
    return { type: "followed", job, as: followedAs(followed, this.#parts.agentId) };
  }

  async #explain(job: number): Promise<FinishedReadingJob> {
    return { type: "explained", job, as: await this.#parts.commits.explain() };
  }

  async #find(job: number, epoch: number): Promise<FinishedReadingJob> {
    try {
      return { type: "found", job, found: await this.#parts.findCommit(epoch) };
    } catch (error) {
      // Anything but a refusal is a fault of ours.
      if (!(error instanceof StaticError)) throw error;
      return { type: "unheard", job };
    }
  }

  /**
   * A request or a reply among messages that are passed over because nobody reads: a handler does
   * not starve behind them.
   */
  async #lookAhead(job: number): Promise<FinishedReadingJob> {
    const { membership, inbox, agentId } = this.#parts;
    const body = this.#body("DeliverMessage");
    const outcome = await membership.durable.preview(body.ciphertext, {
      forks: this.#forks,
      sender: body.sender,
      isWanted: (payload) => isHandedOn(payload, agentId),
    });
    const found = outcome?.kind === "message" ? this.#intake.preview(body, outcome) : undefined;
    if (found !== undefined) inbox.handAhead(found);
    return { type: "done", job };
  }

  async #note(job: number): Promise<FinishedReadingJob> {
    const { membership, store } = this.#parts;
    const entry = this.#statement();
    if (entry.operation === "DeliverLeave") {
      const { worth, write } = membership.departures.noteLeave(leaveOf(entry.body));
      if (write.length > 0) await store.batch(write);
      return { type: "noted", job, worth };
    }
    const write = membership.departures.noteLapse(entry.body);
    if (write.length > 0) {
      await store.batch(write);
      membership.departures.reportLapsed();
    }
    return { type: "noted", job };
  }

  async #enter(job: number, verdict: GenuineVerdict): Promise<FinishedReadingJob> {
    await this.#parts.enter(this.#body("DeliverFounding"), verdict);
    return { type: "done", job };
  }

  #reportRepeated(): void {
    const { sender, epoch, ciphertext } = this.#body("DeliverMessage");
    const header = headerOf(ciphertext);
    this.#intake.reportRepeated(sender, { epoch, aad: header && aadOf(header) });
  }

  #reportGap(messages: number, reason: NoticeBody<"DeliverGap">["reason"]): void {
    const { health } = this.#parts;
    const why = reason === "age" ? "were too old" : "were too many";
    health.report("dropped_by_relay", `The relay gave up ${messages} messages that ${why}`, {
      about: reason,
      count: messages,
    });
    health.tell({ type: "gap", messages, reason });
  }

  #body<O extends LogEntry["operation"]>(operation: O): NoticeBody<O> {
    const entry = this.#given?.entry;
    if (entry?.operation !== operation) throw new Error(`no ${operation} is being read`);
    // cast: the body of this operation
    return entry.body as NoticeBody<O>;
  }

  #statement(): MemberStatement {
    const entry = this.#given?.entry;
    if (entry?.operation === "DeliverLeave" || entry?.operation === "DeliverLapse") return entry;
    throw new Error("no statement is being read");
  }
}

const none: readonly NotedChange[] = Object.freeze([]);
const nothing: StepResult<never> = Object.freeze({ effects: Object.freeze([]) });
const asMessage = (): string => "It came as a message and not as a commit";

function followedAs(outcome: FollowVerdict, agentId: AgentId): FollowOutcome {
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
