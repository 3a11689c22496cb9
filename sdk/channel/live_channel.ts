/**
 * One channel at work: deliveries in order, sends, commits, the members' duties, and the way back when something went wrong.
 * The parts do not know each other's state; this file says who hears what and in which order.
 * Long because it is the one place where all of them meet.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  type ChannelEndReason,
  type ChannelId,
  type ChannelName,
  generationOf,
  limits,
  type NoticeBody,
  type NoticeEnvelope,
} from "../../proto/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import { EventStream } from "../base/event_stream.ts";
import { jitter, pause } from "../base/runtime.ts";
import { Serial } from "../base/serial.ts";
import type { Incoming } from "../content/incoming.ts";
import { Requester } from "../content/requester.ts";
import { Service } from "../content/service.ts";
import { type RecordChange, StoreError } from "../store/mod.ts";
import type { Permit } from "./connection/permit.ts";
import type { Begins, Facts, Place, StoreFacts, Taken } from "./connection/link_state.ts";
import { createPorts } from "./content_ports.ts";
import type { ChannelDeps } from "./deps.ts";
import { endError, hiddenError, leftError, removedError } from "./end_errors.ts";
import { type Begun, judgeFounding } from "./following.ts";
import type { Entered, EnteredChannel } from "./entering.ts";
import type { ChannelEvent, ChannelEventBody, ConnectionEvent } from "./events.ts";
import { toStaticError } from "./faults.ts";
import { HealthLog, type LiveChannelState } from "./health.ts";
import { type InboxItem, InboxRunner } from "./runner/inbox_runner.ts";
import { KeptCommits } from "./kept_commits.ts";
import { isHeardLately } from "./last_heard.ts";
import { leaveRequest } from "./leave_request.ts";
import { LookAlikes } from "./look_alikes.ts";
import { Membership, type Moved } from "./membership.ts";
import { memberEvents } from "./member_events.ts";
import { Newcomers } from "./newcomers.ts";
import type { PlanFacts } from "./plan.ts";
import { planOf } from "./plans.ts";
import { Receiver } from "./receiver.ts";
import { type LeaveProof, putLog } from "./records.ts";
import { Senders } from "./reading/senders.ts";
import { StoreAge } from "./store_age.ts";
import { wayOut } from "./succession.ts";
import { ChannelQueue } from "./runner/channel_queue.ts";
import { CommitRunner } from "./runner/commit_runner.ts";
import { DepartureRunner, type DepartureRunnerParts } from "./runner/departure_runner.ts";
import { ConfirmationRunner } from "./runner/confirmation_runner.ts";
import { DutyRunner } from "./runner/duty_runner.ts";
import { KeyAgeRunner } from "./runner/key_age_runner.ts";
import { LinkRunner } from "./runner/link_runner.ts";
import type { RecoveryPreview } from "./recovery_preview.ts";
import type { Choice } from "./recovery/recovery_state.ts";
import { OutboxRunner } from "./runner/outbox_runner.ts";
import { PositionRunner } from "./runner/position_runner.ts";
import { type ChannelFinding, RecoveryRunner, type RecoverySight } from "./runner/recovery_runner.ts";
import { errorOf } from "./runner/recovery_words.ts";
import { takenOf } from "./runner/notice_kinds.ts";
import { ReadingRunner } from "./runner/reading_runner.ts";
import type { LogEntry, ReadingFinding } from "./reading/reading_state.ts";

export interface LiveChannelParts extends EnteredChannel {
  /** False for an agent that only sends. */
  readonly receive: boolean;
  /** Of the membership, among the names of the agent. */
  readonly number: number;
  readonly keeper: ChannelKeeper;
}

/** The names of the agent, as far as a channel tells them something. `leaving`, `operation`: calls to leave it. */
export interface ChannelKeeper {
  /** Once, and for each call that comes behind. `gone`: a commit, or the relay's answer, says that we have no place in it any more; else its keys stay. */
  readonly ended: (how: "gone" | "over", leaving: readonly number[]) => void;
  /** Our leaf is another one. */
  readonly rejoined: () => void;
  /** Leaving has failed, and everything is as before. */
  readonly stayed: (operation: number, error: unknown) => void;
}

interface End {
  /** For calls that wait. The loops' when it is not given. */
  readonly toOthers?: StaticError | undefined;
  readonly how?: "gone" | "over";
}

/** For messages that are under way when the client is closed. */
const lastWordsMs = 2000;
/** For handlers that run then. */
const handlersMs = 5000;

export class LiveChannel {
  readonly number: number;
  readonly membership: Membership;
  readonly commits: CommitRunner;
  readonly inbox: InboxRunner;
  readonly outbox: OutboxRunner;
  readonly health: HealthLog;
  readonly senders: Senders;
  readonly confirmations: ConfirmationRunner;
  readonly ages: KeyAgeRunner;
  readonly lookAlikes: LookAlikes;
  readonly newcomers: Newcomers;
  readonly departure: DepartureRunner;
  readonly requester: Requester;
  readonly service: Service;
  readonly events = new EventStream<ChannelEvent>();
  readonly #deps: ChannelDeps;
  readonly #keeper: ChannelKeeper;
  readonly #reader: ReadingRunner;
  readonly #progress: PositionRunner;
  readonly #caretaker: DutyRunner;
  readonly #recovery: RecoveryRunner;
  readonly #link: LinkRunner;
  readonly #kept: KeptCommits;
  readonly #storeAge: StoreAge;
  readonly #queue: ChannelQueue;
  readonly #entries = new Serial();
  readonly #stop = new AbortController();
  /** Keys of epochs before this one are gone. */
  #forgottenBefore = 0;
  #isReady = false;
  #ended: { readonly error: StaticError | undefined } | undefined;
  /** As the relay said last. */
  #endReason: Exclude<ChannelEndReason, "lapsed"> | "unknown" = "unknown";
  /** The commit that removed us. */
  #removedBy: NoticeBody<"DeliverCommit"> | undefined;
  /** The error for callers after the end. */
  #over: StaticError | undefined;
  #receiver: Receiver | undefined;

  constructor(parts: LiveChannelParts, deps: ChannelDeps) {
    this.#deps = deps;
    this.number = parts.number;
    this.#keeper = parts.keeper;
    const health = this.health = new HealthLog(() => deps.runtime.nowMs(), (event) => this.tell(event));
    const membership = this.membership = new Membership({ ...parts, health }, deps);
    this.lookAlikes = new LookAlikes({ membership, health });
    this.newcomers = new Newcomers(membership.agentIds);
    const onFault = (fault: unknown): void => this.die(fault);
    const queue = this.#queue = new ChannelQueue((ms, run) => deps.runtime.after(ms, run), onFault);
    this.#storeAge = new StoreAge({ anchor: parts.anchor, membership }, deps);
    this.commits = this.#createCommits(parts, queue);
    const { commits } = this;
    this.ages = new KeyAgeRunner({ seen: parts.keyAges, membership, commits, health, queue }, deps);
    this.senders = new Senders(parts.senders, parts.record.since);
    const said = { ...parts, membership, health, isCurrent: () => this.#isReady, queue, onFault };
    this.confirmations = new ConfirmationRunner(said, deps);
    const { ages } = this;
    this.outbox = this.#createOutbox(parts, queue);
    const [maxAgeMs, progress] = [(): number => this.#maxAgeMs, (): PositionRunner => this.#progress];
    const ports = createPorts({ membership, outbox: this.outbox, health, maxAgeMs, progress }, deps);
    this.requester = new Requester(ports);
    this.service = new Service(ports);
    this.inbox = new InboxRunner({
      onDone: (items, changes) => this.#doneWith(items, changes),
      written: () => this.#progress.written(),
      onRequest: (request) => this.service.request(request),
      onReply: (reply) => void this.requester.reply(reply).catch(onFault),
      isExpired: (message) => this.#isExpired(message),
      discard: !parts.receive,
    });
    this.#reader = this.#createReader(parts);
    this.#progress = this.#createProgress(parts.position?.sequence ?? 0, queue);
    this.#caretaker = new DutyRunner({ membership, commits, health, ages, queue }, deps);
    this.#recovery = this.#createRecovery(parts, queue);
    this.#kept = new KeptCommits(membership, deps);
    this.#link = this.#createLink(parts.log);
    this.departure = this.#createDeparture(queue);
    membership.onCommit(({ signed }) => signed === undefined ? [] : this.#kept.keep(signed));
    membership.onMoved((moved) => this.#membersMoved(moved));
  }

  #createReader(parts: LiveChannelParts): ReadingRunner {
    const { position, landmarks, record: { joinedEpoch }, receive } = parts;
    const { membership, commits, senders, inbox, health, confirmations } = this;
    const { runtime, agentId, relayNowMs, nameOf } = this.#deps;
    return new ReadingRunner({ position, landmarks, joinedEpoch }, {
      ...{ membership, commits, senders, inbox, health, confirmations, agentId, relayNowMs, nameOf },
      nowMs: () => runtime.nowMs(),
      maxAgeMs: () => this.#maxAgeMs,
      discard: !receive,
      stop: () => this.#recovery.stopsAt,
      foreign: () => this.#recovery.foreignGeneration,
      durable: () => this.#progress.durable,
      onDone: (changes) => this.#progress.note(changes),
      judgeFounding: (founding) => judgeFounding(founding, this.#recovery.stopped, membership, this.#deps),
      enter: (founding, verdict) => this.#recovery.founded(founding, verdict),
      onFinding: (finding) => this.#hasRead(finding),
    });
  }

  #createProgress(position: number, queue: ChannelQueue): PositionRunner {
    return new PositionRunner(position, {
      channelId: this.channelId,
      store: this.#deps.store,
      position: () => this.#reader.position,
      onDurable: () => this.#durable(),
      onFault: (fault) => this.die(fault),
      queue,
    });
  }

  #createRecovery(parts: LiveChannelParts, queue: ChannelQueue): RecoveryRunner {
    const { bad, returnedMs, foreign, foundings } = parts;
    return new RecoveryRunner({
      ...{ bad, returnedMs, foreign, foundings },
      membership: this.membership,
      health: this.health,
      storeAge: this.#storeAge,
      entries: this.#entries,
      sight: this.#createSight(),
      past: {
        stateAt: (epoch) => this.confirmations.stateAt(epoch),
        confirmedBy: (agentId) => this.confirmations.confirmedEpoch(agentId),
        hashOf: (epoch) => this.#kept.hashOf(epoch),
      },
      allHere: () => this.#link.allHere(),
      onEntering: () => this.#storeAge.begunAnew(),
      onMembership: (entered, joinedSequence) => this.#rejoined(entered, joinedSequence),
      writeMembership: () => this.outbox.restart(),
      onRejoined: () => this.#goOnRejoined(),
      onGeneration: (begun, isOwn) => void this.#begun(begun, isOwn).catch((fault) => this.die(fault)),
      onFinding: (finding) => this.#found(finding),
      onStepped: () => this.departure.look(),
      over: () => this.#over,
      queue,
      onFault: (fault) => this.die(fault),
    }, this.#deps);
  }

  #createSight(): RecoverySight {
    const link = (): LinkRunner => this.#link;
    const isLeaving = (): boolean => this.departure.stage() !== "staying";
    const [reader, inbox, commits] = [this.#reader, this.inbox, this.commits];
    return {
      get permit() {
        return link().permit;
      },
      get relayEpoch() {
        return link().relayEpoch;
      },
      get isAllHere() {
        return link().isAllHere;
      },
      get received() {
        return reader.received;
      },
      get isAllShown() {
        return !reader.isPassingOver && inbox.unread === 0;
      },
      get isLeaving() {
        return isLeaving();
      },
      get hasOpenCommit() {
        return commits.ours.length > 0;
      },
    };
  }

  /** News of the place of this agent. */
  #found(finding: ChannelFinding): void {
    switch (finding.type) {
      case "stopped":
        this.#suspend();
        return this.#lookAtDuties();
      case "in_step":
        return this.#lookAtDuties();
      case "outside":
        // Nothing is read before we are in again.
        if (!finding.hears) this.#link.push({ type: "out_of_step" });
        this.#suspend();
        return this.#lookAtDuties();
      case "all_arrived":
      case "hold":
        return this.#link.push({ type: finding.type });
      case "founding_settled":
        return this.departure.foundingSettled();
      case "retry":
        if (finding.refusal !== undefined) this.departure.foundingSettled(errorOf(finding.refusal));
        return this.#link.push({ type: "retry" });
      case "gone":
        return this.#end(removedError(this.name, this.#removedBy), { how: "gone" });
      case "over":
        return this.#endFor(this.#endReason);
    }
  }

  /** Our group is in a new generation. Of ours, entries from before it may still be under way: they are none of it. */
  async #begun(begun: Begun, isOwn: boolean): Promise<void> {
    this.#link.push({ type: "all_arrived" });
    this.#reader.founded(begun);
    this.departure.entered();
    await this.#progress.flush();
    this.#lookAtDuties();
    if (isOwn) return this.#link.fetchAgain();
    const { permit } = this.#link;
    if (permit !== undefined) this.#goOn(permit);
  }

  #createCommits({ candidate, given }: LiveChannelParts, queue: ChannelQueue): CommitRunner {
    return new CommitRunner({
      membership: this.membership,
      health: this.health,
      candidate,
      given,
      work: () => this.#link.work,
      departure: () => this.departure.stage(),
      stopped: () => this.#stopped,
      planOf: (plan, leavers) => planOf(plan, this.#planFacts(leavers)),
      isKeyOld: () => this.ages.isOld,
      lastHeard: (agentId) => this.confirmations.lastHeardMs(agentId),
      onDiscarded: (prepared) => this.#storeAge.discarded(prepared),
      onOutside: (reason, named) => this.#recovery.push({ type: "out_of_step", reason, isNamed: named }),
      queue,
      onFault: (fault) => this.die(fault),
    }, this.#deps);
  }

  #createOutbox({ counters }: Pick<LiveChannelParts, "counters">, queue: ChannelQueue): OutboxRunner {
    const { membership, health, confirmations } = this;
    return new OutboxRunner({
      ...{ counters, membership, health, confirmations, queue },
      work: () => this.#link.work,
      onFault: (fault) => this.die(fault),
    }, this.#deps);
  }

  /** Stays so until an owner acts: nobody waits for that. */
  get #stopped(): StaticError | undefined {
    const stopped = this.#recovery.stopped && this.#recovery.condition;
    return stopped && createError("mls_error", `${stopped.problem}. ${stopped.action}`);
  }

  #planFacts(leavers: readonly LeaveProof[]): PlanFacts {
    const { membership, confirmations, ages } = this;
    const nowMs = this.#deps.runtime.nowMs();
    return {
      membership,
      leavers,
      ownLeaf: ages.ownLeaf,
      returning: this.#caretaker.returning,
      isHeard: (agentId) => isHeardLately(confirmations.lastHeardMs(agentId), nowMs),
    };
  }

  #createDeparture(queue: ChannelQueue): DepartureRunner {
    return new DepartureRunner({
      ...this.#leaves,
      commits: this.commits,
      work: () => this.#link.work,
      isAllRead: () => this.state.caughtUp,
      onStage: () => {
        this.commits.look();
        this.#lookAtDuties();
      },
      onStayed: (operation, error) => this.#keeper.stayed(operation, error),
      onEnded: (how, operations) => {
        // By leaving, unless it has ended already.
        this.#end(undefined);
        this.#keeper.ended(how, operations);
      },
      queue,
      onFault: (fault) => this.die(fault),
    }, this.#deps);
  }

  get #leaves(): Pick<DepartureRunnerParts, "membership" | "recovery" | "storeAge"> {
    return { membership: this.membership, recovery: this.#recovery, storeAge: this.#storeAge };
  }

  #createLink(log: Uint8Array | undefined): LinkRunner {
    const { membership, commits } = this;
    return new LinkRunner({
      channelId: membership.channelId,
      log,
      health: this.health,
      entries: this.#entries,
      facts: this.#createFacts(),
      received: () => this.#reader.received,
      settleStop: () => this.#settleStop(),
      settleCommit: () => commits.fate(),
      noteAnchor: (anchor) => this.#storeAge.noted(anchor),
      putBack: (epoch) => this.#kept.putBack(epoch),
      findCommit: (epoch) => membership.findCommit(epoch),
      onSubscribed: async ({ epoch, joinedSequence }) => {
        this.#storeAge.told(joinedSequence);
        await this.#recovery.tell({ type: "log_at", generation: generationOf(epoch) });
      },
      read: (notice, permit) => this.#process(notice, permit),
      loseLog: () => {
        this.#reader.lose();
        this.#progress.forget();
      },
      onCleared: (permit, begins) => this.#linkCleared(permit, begins),
      onResumed: (permit) => this.#goOn(permit),
      onRest: () => this.#rest(),
      comeBack: ({ by, reason, sent }) =>
        this.#recovery.push({ type: "doubt", by, reason, ...(sent !== undefined && { sent: sent.sequence }) }),
      onUnknown: () => this.#endedBy("unknown"),
      onFault: (fault) => this.die(fault),
    }, this.#deps);
  }

  /** The connection is judged by these. Each is of the moment in which it is read. */
  #createFacts(): Facts {
    const place = (): Place => this.#place;
    const store = (): StoreFacts => this.#storeFacts;
    const { membership } = this;
    const [reader, progress, recovery] = [this.#reader, this.#progress, this.#recovery];
    return {
      get place() {
        return place();
      },
      get epoch() {
        return membership.epoch;
      },
      get began() {
        return membership.began;
      },
      get received() {
        return reader.received;
      },
      get durable() {
        return progress.durable;
      },
      get own() {
        return reader.ownCommit;
      },
      get foreign() {
        return recovery.foreignGeneration;
      },
      get store() {
        return store();
      },
      jitter: (ms) => jitter(this.#deps.runtime, ms),
    };
  }

  get #place(): Place {
    const { stopped } = this.#recovery;
    if (stopped !== undefined) return { at: "stopped", sequence: stopped.sequence };
    const { reason, isByWord } = this.#recovery;
    return reason === undefined ? { at: "in_step" } : { at: "outside", isByWord };
  }

  get #storeFacts(): StoreFacts {
    const { counter, usedKeys } = this.outbox.sent;
    const { anchor } = this.#storeAge;
    return {
      anchor,
      isProven: this.#recovery.isProven,
      counter,
      usedKeys,
      reached: this.#progress.reached,
      commits: this.commits.ours.map(({ hash }) => hash),
    };
  }

  /** Once for each connection, and before anything comes: the log may not hold the commit any more at which we are stopped. */
  async #settleStop(): Promise<void> {
    const { stopped } = this.#recovery;
    if (stopped === undefined) return;
    const { epoch, commit } = await this.membership.findCommit(stopped.declared.epoch);
    const found = commit && { sequence: commit.sequence, hash: bytesToHex(commit.commitHash) };
    await this.#recovery.tell({ type: "stop_found", epoch, ...(found && { commit: found }) });
  }

  /** Upkeep for the others rests while this agent cannot commit, or leaves. */
  #lookAtDuties(): void {
    const isOn = this.#place.at === "in_step" && this.departure.stage() === "staying";
    if (isOn) this.#caretaker.start();
    else this.#caretaker.stop();
  }

  /** The relay says nothing any more that would make us come back, and what stands behind our place is on its way. */
  async #linkCleared(permit: Permit, { after, head, isLost, log }: Begins): Promise<void> {
    if (isLost) await this.#progress.lose(after);
    this.#reader.begin(after, head);
    this.service.connected(head);
    this.requester.connected();
    this.#progress.note(log === undefined ? [] : [putLog(this.channelId, log)]);
    // Unread messages before a stop come first. If nothing is left there, a founding of ours that is in the log does.
    await this.#recovery.tell({ type: "permit" });
    if (this.#recovery.stopped === undefined) this.#goOn(permit);
  }

  /** The connection has not shown, or does not show any more, that we may act. */
  #rest(): void {
    this.#isReady = false;
    this.#suspend();
    this.confirmations.connection(this.#deps.session.state.kind === "online");
  }

  /** How long the relay keeps messages; as long as any may, while it cannot be asked. */
  get #maxAgeMs(): number {
    const { state } = this.#deps.session;
    return state.kind === "online" ? state.connection.limits.queueAgeMs : limits.queueAgeMs;
  }

  get channelId(): ChannelId {
    return this.membership.channelId;
  }

  get name(): ChannelName {
    return this.membership.name;
  }

  get state(): LiveChannelState {
    return {
      ended: this.#ended,
      stopped: this.#recovery.condition,
      rejoining: this.#recovery.reason,
      unwelcome: this.#recovery.isUnwelcome,
      pausesUntilMs: this.#recovery.pausesUntilMs,
      caughtUp: this.#link.isUp && this.membership.epoch >= this.#link.relayEpoch,
      relayEpoch: Math.max(this.#link.relayEpoch, this.membership.epoch),
      unacknowledged: this.inbox.unread + this.#progress.ahead,
    };
  }

  /** For callers that take one message at a time; they share it. */
  get receiver(): Receiver {
    this.#receiver ??= new Receiver(this.inbox.readOneByOne(), this.#deps.runtime);
    return this.#receiver;
  }

  /** Why nothing more comes, once that is so. */
  get over(): StaticError | undefined {
    return this.#over;
  }

  /** For listeners of this channel, and of the client. */
  tell(event: ChannelEventBody | ConnectionEvent): void {
    const told = { ...event, atMs: this.#deps.runtime.nowMs(), channel: this.name };
    this.events.tell(told);
    if (isOfChannel(event)) this.#deps.onEvent({ ...event, atMs: told.atMs, channel: told.channel });
  }

  /** Once, when the names of the agent know it. */
  begin(): void {
    this.membership.reportLapsed();
    this.lookAlikes.look();
    const { kind } = this.#deps.session.state;
    if (kind === "online" || kind === "ended") this.connection(kind === "online");
  }

  /** Everything that the relay says about this channel. */
  deliver(notice: NoticeEnvelope): void {
    this.#link.deliver(notice);
  }

  /** The session is online (again), or was lost. */
  connection(online: boolean): void {
    this.#isReady = false;
    this.#suspend();
    const { state } = this.#deps.session;
    if (state.kind === "ended" && state.error !== undefined) this.#end(state.error);
    this.confirmations.connection(online);
    this.#link.connection(online);
    if (online) this.#recovery.push({ type: "connected" });
  }

  /**
   * Begins the channel anew, without the member whose commit nobody can follow. Resolves when this agent is in the new generation,
   * its own or that of an owner that was faster, or when the channel goes on without one. Throws `StaticError`. A call while another
   * one is under way is that one, if it names nobody else.
   */
  async recover(choice: Choice = {}): Promise<void> {
    if (this.#over !== undefined) throw this.#over;
    await this.#recovery.recover(choice);
  }

  /** Whom `recover()` with the same lists would leave out now. Throws `StaticError` where that would. */
  previewRecovery(choice: Choice): RecoveryPreview {
    if (this.#over !== undefined) throw this.#over;
    return this.#recovery.preview(choice);
  }

  /** Of one that is over. */
  wayOut(successor: AgentId | undefined): ReturnType<typeof wayOut> {
    return wayOut(this.membership, successor);
  }

  /** The relay may have taken a commit or a founding of ours, by which our leaf is another one. */
  get isUnsettled(): boolean {
    return this.commits.ours.length > 0 || this.#recovery.hasFoundings;
  }

  /** For one that is over: the relay is told. Throws `StaticError`. */
  async sayLeave(): Promise<void> {
    const request = leaveRequest(this.#leaves, !this.#recovery.isUnwelcome, this.#deps);
    await this.#deps.session.call("LeaveChannel", request);
  }

  /** It works no more, and what it had to write is dropped. Resolves behind its last write. */
  async halt(): Promise<void> {
    this.#end(undefined);
    await this.idle();
  }

  /** Deletes the KeyPackages that it has asked to come back with, but for those that are held. */
  async forgetKeys(held: ReadonlySet<string>): Promise<void> {
    await this.#recovery.erase(held);
  }

  /** Writes pending changes; the channel can be opened again. Its open calls to the relay end with the session. */
  async close(): Promise<void> {
    try {
      await this.#finish();
    } finally {
      const toOthers = createError("transport_error", "The client was closed; connect again");
      this.#end(undefined, { toOthers });
    }
  }

  async #finish(): Promise<void> {
    const { session, runtime } = this.#deps;
    if (session.state.kind !== "ended" && this.#ended === undefined) {
      await Promise.race([this.service.drain(), pause(runtime, handlersMs, this.#stop.signal)]);
    }
    // Messages under way are nearly there; without a relay there is nothing to wait for.
    if (session.state.kind === "online" && this.#ended === undefined) {
      const lastWords = Promise.all([this.outbox.idle(), this.#caretaker.finish()]);
      await Promise.race([lastWords, pause(runtime, lastWordsMs, this.#stop.signal)]);
    }
    await this.#receiver?.finish();
    await this.#progress.flush();
    this.#link.flush();
    await this.outbox.close();
    await this.confirmations.keep();
  }

  /** Resolves when nothing of it works any more, and the disk may go. */
  async idle(): Promise<void> {
    await this.#queue.idle();
    await this.#recovery.idle();
    await this.#entries.idle();
    await this.membership.durable.close();
  }

  /** Once for each time that it becomes so. */
  #tellReady(): void {
    const ready = this.state.caughtUp && this.#recovery.reason === undefined;
    const isNews = ready && !this.#isReady;
    this.#isReady = ready;
    if (isNews) this.tell({ type: "ready" });
    if (ready) this.confirmations.confirm();
  }

  /** Returns what was read of the log. */
  #process(notice: NoticeEnvelope, permit: Permit | undefined): Promise<Taken | undefined> | Taken | undefined {
    if (this.#ended !== undefined) return undefined;
    switch (notice.operation) {
      case "DeliverMessage":
      case "DeliverCommit":
      case "DeliverLeave":
      case "DeliverLapse":
      case "DeliverGap":
      case "DeliverFounding":
        return this.#read(notice, permit);
      default:
        this.#hear(notice);
        return undefined;
    }
  }

  #read(entry: LogEntry, permit: Permit | undefined): Promise<Taken | undefined> | Taken | undefined {
    const { body } = entry;
    const took = "ciphertext" in body || "commit" in body ? takenOf(body) : undefined;
    const reading = this.#reader.read(entry, permit);
    return reading === undefined ? took : reading.then(() => took);
  }

  /** Words of the relay that stand in no log. */
  #hear(notice: NoticeEnvelope): void {
    switch (notice.operation) {
      case "DeliverConfirmations":
        return this.confirmations.told(notice.body);
      case "DeliverUnconfirmed":
        return this.confirmations.unconfirmed(notice.body);
      case "DeliverRejoinRequest":
        return this.#askedBack(notice.body);
      case "DeliverLeaf":
        return this.#recovery.leaf(notice.body);
      case "DeliverChannelEnd":
        return this.#endedBy(notice.body.reason);
    }
  }

  /** A member asks to be let in. */
  #askedBack(request: NoticeBody<"DeliverRejoinRequest">): void {
    const { agentId } = request;
    const generation = generationOf(this.membership.epoch);
    // Nobody else can tell us that the relay took a generation of ours: it is not delivered to us.
    if (this.#recovery.hasFoundings && this.#caretaker.hasLeftFor(request, generation + 1)) {
      return this.#recovery.asked(agentId, generation + 1);
    }
    if (this.#recovery.stopped !== undefined) {
      return this.#caretaker.isStuckHere(request) ? this.#recovery.asked(agentId, generation) : undefined;
    }
    // The relay takes back what we came back by only while its agent asks for it: now it may.
    if (this.#recovery.isByWord) return this.#link.push({ type: "asked_back" });
    this.#caretaker.asked(request);
  }

  /** News of an entry of the log. */
  #hasRead(finding: ReadingFinding): Promise<void> | void {
    const recovery = this.#recovery;
    switch (finding.is) {
      case "fetch":
        return this.#link.fetchAgain(finding.afterMs);
      case "hold":
        return this.#link.push({ type: "hold" });
      case "behind_stop":
        return recovery.countUnread(finding.sequence);
      case "stop_read":
        return recovery.push({ type: "stop_read", isStop: finding.isStop });
      case "leaves":
        if (finding.isPresent) this.commits.left();
        return this.#caretaker.left(finding.agentId);
      case "removed":
        this.#removedBy = finding.body;
        return recovery.tell({ type: "removed", isAgain: finding.isAgain, reason: "it was removed and added again" });
      case "stopped":
        return recovery.stopAt(this.membership.badCommitOf(finding.body, finding.reason), finding.reason);
      case "out_of_step": {
        const { reason, isNamed } = finding;
        return recovery.tell({ type: "out_of_step", reason, ...(isNamed !== undefined && { isNamed }) });
      }
    }
  }

  #suspend(): void {
    this.outbox.look();
    this.commits.look();
  }

  /** From here on the channel works as before. */
  #goOn(permit: Permit): void {
    // With a permit of a connection that is over, or out of step, nothing goes on: the next connection does.
    if (this.#link.permit !== permit || this.#place.at !== "in_step") return;
    this.#link.push({ type: "moved" });
    this.commits.look();
    this.outbox.look();
    this.#caretaker.look();
    this.#tellReady();
  }

  #refill(): void {
    if (!this.#reader.isPassingOver) return;
    this.#reader.resumeReading();
    this.#link.fetchAgain();
  }

  /** Of the parts none ever sees another's old state: between the write and the last of them nothing else runs. */
  #rejoined(entered: Entered, joinedSequence: number): void {
    this.#keeper.rejoined();
    this.membership.replace(entered);
    this.lookAlikes.look();
    this.newcomers.look(this.membership.agentIds);
    this.commits.replaced();
    this.#storeAge.restart(entered.anchor);
    this.#reader.restart(joinedSequence);
    this.senders.clear();
    this.confirmations.restart(entered.anchor.formerEpoch);
    this.#progress.restart(joinedSequence);
    this.departure.entered();
  }

  #goOnRejoined(): void {
    this.#lookAtDuties();
    this.connection(this.#deps.session.state.kind === "online");
  }

  /**
   * Nothing more will come. That is the relay's word, so the keys stay: only a commit that we verified, or leaving, erases
   * them.
   */
  #endedBy(reason: ChannelEndReason | "unknown"): void {
    if (this.departure.hears(reason)) return;
    // An owner reads on, and may begin the channel anew: the relay lets it.
    if (reason === "lapsed") {
      return this.#recovery.push({ type: "doubt", by: "lapse", reason: "it was absent for too long" });
    }
    this.#endReason = reason;
    this.#recovery.push({ type: "ended", isRecovered: reason === "recovered" });
  }

  #endFor(reason: Exclude<ChannelEndReason, "lapsed"> | "unknown"): void {
    const isHidden = reason === "unknown" && this.#deps.session.covers?.(this.membership) === false;
    if (isHidden) return this.#end(hiddenError(this.name));
    this.#end(reason === "removed" ? removedError(this.name) : endError(reason, this.name));
  }

  #isExpired({ fields: { expiryMs }, kind, id, sender }: Incoming): boolean {
    if (expiryMs === undefined || this.#deps.relayNowMs() < expiryMs) return false;
    this.health.tell({ type: "expired", kind, id, sender });
    return true;
  }

  #membersMoved(moved: Moved): void {
    const { membership } = this;
    for (const agentId of moved.added) this.senders.begin(agentId, membership.epoch);
    for (const agentId of moved.removed) if (!moved.added.includes(agentId)) this.requester.gone(agentId);
    const isOther = moved.added.length + moved.removed.length > 0;
    // Before the events: a listener may ask for them at once.
    if (isOther) this.newcomers.look(membership.agentIds);
    for (const event of memberEvents(moved, membership)) this.tell(event);
    if (isOther) this.lookAlikes.look();
    this.confirmations.moved(moved);
    this.#recovery.moved(moved.committer === this.#deps.agentId);
    this.#tellReady();
  }

  /** The background work itself failed: a disk that does not write, or a mistake of ours. */
  die(fault: unknown): void {
    if (fault instanceof StoreError) {
      const stopped = `Channel "${this.name}" stopped: ${fault.message}`;
      return this.#end(createError(fault.code, stopped, { cause: fault }));
    }
    const { message } = toStaticError(fault, "background work");
    const text = `Channel "${this.name}" stopped: ${message}. Close the client and connect again`;
    this.#end(createError("listener_died", text, { cause: fault }));
  }

  /** Loops end with the error, or quietly without one; other waiting calls reject with `toOthers`. */
  #end(error: StaticError | undefined, { toOthers = error, how = "over" }: End = {}): void {
    if (this.#ended !== undefined) return;
    this.#ended = { error };
    this.#stop.abort();
    this.#caretaker.end();
    this.#progress.stop();
    this.confirmations.end();
    const over = toOthers ?? leftError(this.name);
    this.#over = over;
    this.#recovery.end();
    this.service.end();
    this.requester.end(over);
    this.inbox.end(error);
    this.outbox.end(over);
    this.commits.end(over);
    this.membership.end(over);
    this.#link.end();
    this.tell({ type: "ended", error });
    this.events.end();
    this.departure.end(how);
  }

  #doneWith(items: readonly InboxItem[], changes: readonly RecordChange[]): Promise<void> | undefined {
    this.#progress.note([...this.#reader.changesOf(items), ...changes], items.length);
    if (this.#recovery.place === "stopped") this.#recovery.push({ type: "all_shown" });
    if (this.#reader.isPassingOver && this.inbox.isNearlyEmpty) {
      this.#entries.run(() => Promise.resolve(this.#refill())).catch((fault) => this.die(fault));
    }
    return this.#progress.nearer;
  }

  async #durable(): Promise<void> {
    this.#link.push({ type: "durable" });
    const { oldestEpoch } = this.#reader;
    if (oldestEpoch <= this.#forgottenBefore) return;
    this.#forgottenBefore = oldestEpoch;
    await this.membership.durable.forgetBefore(oldestEpoch);
  }
}

function isOfChannel(event: ChannelEventBody | ConnectionEvent): event is ChannelEventBody {
  return event.type !== "connected" && event.type !== "disconnected" && event.type !== "reconnecting";
}
