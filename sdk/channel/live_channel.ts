/**
 * One channel at work: deliveries in order, sends, commits, the members' duties, and the way back when something went wrong.
 * The parts do not know each other's state; this file says who hears what and in which order.
 * Long because it is the one place where all of them meet.
 */
import {
  type ChannelEndReason,
  type ChannelId,
  type ChannelName,
  foundingHash,
  generationOf,
  limits,
  type NoticeBody,
  type NoticeEnvelope,
} from "../../proto/mod.ts";
import { createError, isCode, StaticError } from "../base/errors.ts";
import { EventStream } from "../base/event_stream.ts";
import { jitter, pause } from "../base/runtime.ts";
import { Serial } from "../base/serial.ts";
import type { Incoming } from "../content/incoming.ts";
import type { Ports } from "../content/ports.ts";
import { Requester } from "../content/requester.ts";
import { Service } from "../content/service.ts";
import type { RecordChange } from "../store/mod.ts";
import { Caretaker } from "./caretaker.ts";
import { Clearance } from "./clearance.ts";
import { Committer } from "./commits.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Entered, EnteredChannel } from "./entering.ts";
import type { ChannelEvent, ChannelEventBody, ConnectionEvent } from "./events.ts";
import { FetchBudget } from "./fetch_budget.ts";
import { toStaticError } from "./faults.ts";
import { HealthLog, type LiveChannelState } from "./health.ts";
import { Inbox, type InboxItem } from "./inbox.ts";
import { reportBadContent } from "./intake.ts";
import { sayGoodbye, successorOf } from "./leaving.ts";
import type { OwnCommit } from "./log_place.ts";
import { findLostCommit } from "./lost_commit.ts";
import { LogReader } from "./log_reader.ts";
import { Membership, type Moved } from "./membership.ts";
import { memberEvents } from "./member_events.ts";
import { Outbox } from "./outbox.ts";
import { Progress } from "./progress.ts";
import { Receiver } from "./receiver.ts";
import { type Begun, Recovery } from "./recovery.ts";
import { forgetChannel } from "./records.ts";
import { createRequestRecords } from "./request_records.ts";
import { standsInLog } from "./standing.ts";
import { Rejoiner } from "./rejoin.ts";
import { Senders } from "./senders.ts";
import { type Claims, type Doubt, StoreAge } from "./store_age.ts";
import { Subscription } from "./subscription.ts";
import type { Verdict } from "./verdict.ts";

export interface LiveChannelParts extends EnteredChannel {
  /** False for an agent that only sends. */
  readonly receive: boolean;
}

const retryMs = 1000;
/** For messages that are under way when the client is closed. */
const lastWordsMs = 2000;
/** How long the only owner of a channel that leaves waits for its way back. */
const successionMs = 15_000;

export class LiveChannel {
  readonly membership: Membership;
  readonly committer: Committer;
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly health: HealthLog;
  readonly senders: Senders;
  readonly requester: Requester;
  readonly service: Service;
  readonly events = new EventStream<ChannelEvent>();
  readonly #deps: ChannelDeps;
  readonly #reader: LogReader;
  readonly #progress: Progress;
  readonly #subscription: Subscription;
  readonly #caretaker: Caretaker;
  readonly #rejoiner: Rejoiner;
  readonly #recovery: Recovery;
  readonly #storeAge: StoreAge;
  readonly #clearance: Clearance;
  readonly #entries = new Serial();
  readonly #stop = new AbortController();
  /** The latest commit of ours that the log was asked for. */
  #foundCommit: OwnCommit | undefined;
  /** We are on our way back by nothing but the relay's word. */
  #isByWord = false;
  #connections = 0;
  #relayEpoch = 0;
  /** Keys of epochs before this one are gone. */
  #forgottenBefore = 0;
  #caughtUp = false;
  #isReady = false;
  /** A generation that this agent does not follow: what belongs to it is passed over. */
  #foreign: number | undefined;
  /** This agent has begun the present generation, and has not looked yet who will not come back. */
  #hasFounded = false;
  #erased = false;
  #ended: { readonly error: StaticError | undefined } | undefined;
  /** What callers are told once it has ended. */
  #over: StaticError | undefined;
  #receiver: Receiver | undefined;

  constructor(parts: LiveChannelParts, deps: ChannelDeps) {
    this.#deps = deps;
    this.health = new HealthLog(() => deps.runtime.nowMs(), (event) => this.tell(event));
    const { health } = this;
    this.membership = new Membership({ ...parts, health }, deps);
    const { membership } = this;
    const { channelId } = membership;
    this.#storeAge = new StoreAge({ anchor: parts.anchor, membership, health }, deps);
    this.#clearance = new Clearance(deps);
    this.committer = new Committer({
      membership,
      health,
      candidate: parts.candidate,
      cleared: () => this.#cleared(),
      onGivenUp: (prepared) => this.#storeAge.discarded(prepared),
      onForked: (reason) => this.#comeBack({ reason }),
      onOtherKeys: (reason) => this.#comeBack({ reason, named: true }),
    }, deps);
    this.senders = new Senders(parts.senders, parts.record.since);
    const onFault = (fault: unknown): void => this.#die(fault);
    this.outbox = new Outbox({ counter: parts.counter, membership, health, onFault }, deps);
    const ports = this.#ports();
    this.requester = new Requester(ports);
    this.service = new Service(ports);
    this.inbox = new Inbox({
      onDone: (items, changes) => this.#doneWith(items, changes),
      written: () => this.#progress.written(),
      onRequest: (request) => this.service.request(request),
      onReply: (reply) => void this.requester.reply(reply).catch(onFault),
      isExpired: (message) => this.#isExpired(message),
      discard: !parts.receive,
    });
    const { position, landmarks, record: { joinedEpoch } } = parts;
    this.#reader = new LogReader({ position, landmarks, joinedEpoch }, {
      membership,
      committer: this.committer,
      senders: this.senders,
      inbox: this.inbox,
      health,
      budget: new FetchBudget(() => deps.runtime.nowMs()),
      agentId: deps.agentId,
      relayNowMs: deps.relayNowMs,
      maxAgeMs: () => this.#maxAgeMs,
      discard: !parts.receive,
      onDone: (changes) => void this.#progress.note(changes),
      durable: () => this.#progress.durable,
    });
    this.#progress = new Progress(position?.sequence ?? 0, {
      channelId,
      store: deps.store,
      position: () => this.#reader.position,
      onDurable: (position) => this.#durable(position),
      onFault: (fault) => this.#die(fault),
      rest: (ms) => pause(deps.runtime, ms, this.#stop.signal),
    });
    this.#subscription = new Subscription(channelId, deps.session);
    this.#caretaker = new Caretaker({ membership, committer: this.committer, health }, deps);
    this.#rejoiner = new Rejoiner({
      membership,
      health,
      onOpened: (sequence, write) => this.#entries.run(() => this.#rejoined(sequence, write)),
      isStopped: () => this.#recovery.stopped !== undefined,
      onFault: (fault) => isCode(fault, "not_found") ? this.#endedBy("removed") : this.#die(fault),
    }, deps);
    this.#recovery = new Recovery({ membership, health, bad: parts.bad, founding: parts.founding }, deps);
    membership.onMoved((moved) => this.#membersMoved(moved));
  }

  #ports(): Ports {
    const { membership, outbox, health } = this;
    const { agentId, runtime, relayNowMs, store, session } = this.#deps;
    return {
      agentId,
      runtime,
      relayNowMs,
      maxAgeMs: () => this.#maxAgeMs,
      records: createRequestRecords(membership.channelId, store),
      send: (plaintext, outgoing) => outbox.send(plaintext, outgoing),
      isMember: (each) => membership.memberOf(each) !== undefined,
      stands: (id) => standsInLog(id, { membership, session }),
      tell: health.tell,
      refuse: (incoming, why) => reportBadContent(health, incoming, why),
    };
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
      rejoining: this.#rejoiner.reason,
      unwelcome: this.#rejoiner.isUnwelcome,
      caughtUp: this.#caughtUp && this.membership.epoch >= this.#relayEpoch,
      relayEpoch: Math.max(this.#relayEpoch, this.membership.epoch),
      unacknowledged: this.inbox.unread + this.#progress.ahead,
    };
  }

  /** For callers that take one message at a time; they share it. */
  get receiver(): Receiver {
    this.#receiver ??= new Receiver(this.inbox.read(), this.#deps.runtime);
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

  /** Everything that the relay says about this channel. */
  deliver(notice: NoticeEnvelope): void {
    this.#entries.run(() => this.#process(notice)).catch((fault) => this.#die(fault));
  }

  /** The session is online (again), or was lost. */
  connection(online: boolean): void {
    const connection = ++this.#connections;
    this.#subscription.lost();
    this.#caughtUp = this.#isReady = false;
    this.outbox.suspend();
    this.#clearance.withdraw();
    const { state } = this.#deps.session;
    if (state.kind === "ended" && state.error !== undefined) return this.#end(state.error);
    if (online && this.#ended === undefined) {
      this.#resume(connection).catch((fault) => this.#die(fault));
    }
  }

  /**
   * Begins the channel anew, without the member whose commit nobody can follow. Resolves when this agent is in the new generation,
   * or another owner was faster. Throws `StaticError`.
   */
  async recover(): Promise<void> {
    await this.#entries.run(async () => {
      const begun = await this.#recovery.found();
      if (begun === undefined) return;
      await this.#entered(begun);
      // Entries from before it may still be under way: they are none of the new generation.
      await this.#reopen();
      this.#goOn();
    });
  }

  /** Leaves the channel for good; its keys are deleted. Whoever is alone in it closes it. */
  async leave(): Promise<void> {
    const { membership, committer } = this;
    const rejoiner = this.#rejoiner;
    // The only owner hands the channel on, which it can do once it is back.
    if (rejoiner.reason !== undefined && successorOf(membership) !== undefined) {
      await Promise.race([rejoiner.over, pause(this.#deps.runtime, successionMs, this.#stop.signal)]);
    }
    // What it signs is about its present leaf: that must not change meanwhile, nor must anything be written after the end.
    await rejoiner.halt();
    // Stopped or out of step, it cannot commit; whoever is in it may still go.
    const blocked = this.#recovery.stopped !== undefined || rejoiner.reason !== undefined;
    const presentLeaf = (): Uint8Array => rejoiner.presentLeaf;
    try {
      await sayGoodbye({ membership, committer, caretaker: this.#caretaker, presentLeaf, blocked }, this.#deps);
    } catch (error) {
      rejoiner.resume();
      throw error;
    }
    await this.erase();
  }

  /** Deletes everything that is stored of the channel. */
  async erase(): Promise<void> {
    this.#end(undefined);
    if (this.#erased) return;
    this.#erased = true;
    // First the group's keys: a channel without them cannot be opened, whatever else a crash leaves behind.
    await this.membership.durable.erase();
    await forgetChannel(this.#deps.store, this.channelId);
    this.#deps.onErased(this.channelId);
  }

  /** Writes what is under way; the channel can be opened again. What it still asks of the relay ends with the session. */
  async close(): Promise<void> {
    const { session, runtime } = this.#deps;
    // What is on its way is nearly there; without a relay there is nothing to wait for.
    if (session.state.kind === "online" && this.#ended === undefined) {
      await Promise.race([this.outbox.idle(), pause(runtime, lastWordsMs, this.#stop.signal)]);
    }
    await this.#receiver?.finish();
    await this.#progress.flush();
    this.#end(undefined, createError("transport_error", "The client was closed; connect again"));
  }

  /** Resolves when nothing of it works any more, and the disk may go. */
  async idle(): Promise<void> {
    await this.#rejoiner.halt();
    await this.#entries.idle();
  }

  /** Settles what a lost connection or a crash left open, then reads on from where we were. */
  async #resume(connection: number): Promise<void> {
    for (let tries = 0; connection === this.#connections && this.#ended === undefined; tries++) {
      try {
        this.#rejoiner.hurry();
        const isStopped = this.#recovery.stopped !== undefined;
        // Out of step, nothing of this is of use; the way back ends with another connection. What rests on the relay's word is
        // asked again: it may have been wrong.
        if (this.#rejoiner.reason !== undefined && !isStopped && !this.#isByWord) return;
        if (isStopped) await this.#entries.run(() => this.#settleFounding());
        else await this.committer.recover();
        return await this.#entries.run(() => this.#subscribe(connection));
      } catch (error) {
        if (isCode(error, "not_found")) return this.#endedBy("removed");
        if (isCode(error, "membership_lapsed")) return this.#comeBack({ reason: error.message });
        // The relay's log is not where we left it: from where it thinks that we are.
        if (isCode(error, "cursor_invalid")) this.#reader.lose();
        if (this.#deps.session.state.kind === "ended") return; // `connection` hears of it
        // What is no refusal is a fault of ours. A refusal is the relay's word, and no reason to give up.
        if (!(error instanceof StaticError)) throw error;
        await pause(
          this.#deps.runtime,
          jitter(this.#deps.runtime, retryMs * 2 ** Math.min(tries, 5)),
          this.#stop.signal,
        );
      }
    }
  }

  /** Nothing is read meanwhile, and nothing is sent before it is certain that our keys are not used ones. */
  async #subscribe(connection: number): Promise<void> {
    if (connection !== this.#connections || this.#ended !== undefined) return;
    const reply = await this.#subscription.open(this.#reader.received);
    // First the log itself: one that has lost entries also knows less of what we sent, and says nothing about our store.
    const { received, ownCommit } = this.#reader;
    const own = ownCommit === this.#foundCommit ? undefined : ownCommit;
    const isForeign = this.#foreign !== undefined && generationOf(reply.epoch) >= this.#foreign;
    const reason = isForeign ? undefined : await findLostCommit(reply, { received, own }, this);
    if (reason === undefined) this.#foundCommit = ownCommit;
    const doubt = reason === undefined ? await this.#compare(reply) : { reason };
    if (connection !== this.#connections || this.#ended !== undefined) return;
    if (doubt !== undefined) return this.#comeBack(doubt, true);
    if (this.#isByWord) this.#stay();
    if (received === undefined) await this.#progress.lose(reply.after);
    // A crash may have come between the write and the acknowledgement.
    else if (this.#progress.durable > reply.consumed) this.#subscription.consumed(this.#progress.durable);
    if (connection !== this.#connections) return;
    this.#reader.begin(reply.after);
    this.service.connected(reply.head);
    this.#relayEpoch = Math.max(this.#relayEpoch, reply.epoch);
    this.#progress.note();
    // What was not read before the commit comes first; with the commit itself the agent asks.
    if (this.#recovery.stopped !== undefined) return;
    this.#goOn();
  }

  /** Once for each time that it becomes so. */
  #tellReady(): void {
    const ready = this.state.caughtUp && this.#rejoiner.reason === undefined;
    if (ready && !this.#isReady) this.tell({ type: "ready" });
    this.#isReady = ready;
  }

  /** A channel that is stopped stays so until an owner acts: nobody waits for that. */
  async #cleared(): Promise<void> {
    const stopped = this.#recovery.condition;
    if (stopped !== undefined) throw createError("mls_error", `${stopped.problem}. ${stopped.action}`);
    await this.#clearance.wait();
  }

  #compare(reply: Claims): Promise<Doubt | undefined> {
    const { committer: { candidate }, outbox: { counter } } = this;
    return this.#storeAge.compare(reply, { candidate, counter, position: this.#progress.durable });
  }

  async #process(notice: NoticeEnvelope): Promise<void> {
    if (this.#ended !== undefined) return;
    switch (notice.operation) {
      case "DeliverStart":
        return this.#subscription.started(notice.body.tag);
      case "DeliverRejoinRequest":
        if (this.#recovery.stopped !== undefined) return this.#recovery.asked(notice.body.agentId);
        if (!this.#caretaker.rejoin(notice.body)) {
          this.health.report("refused_join", `A request of ${notice.body.agentId} to rejoin is not genuine`);
        }
        return;
      case "DeliverLeaf":
        return this.#rejoiner.leaf(notice.body);
      case "DeliverChannelEnd":
        return this.#endedBy(notice.body.reason);
    }
    if (!this.#subscription.live) return;
    if (notice.operation === "DeliverFounding") return await this.#founded(notice.body);
    if (this.#recovery.isBehind(notice)) return this.#passOver(notice);
    const foreign = this.#foreignEntry(notice);
    if (foreign !== undefined) return this.#reader.passForeign(foreign);
    switch (notice.operation) {
      case "DeliverMessage":
        await this.#follow(await this.#reader.message(notice.body));
        return this.#subscription.received(notice.body.sequence, notice.body.ciphertext.length);
      case "DeliverCommit":
        await this.#follow(await this.#reader.commit(notice.body), notice.body);
        return this.#subscription.received(notice.body.sequence, notice.body.commit.length);
      case "DeliverLeave": {
        const { sender: agentId, leafHash, signature, sequence } = notice.body;
        if (!this.#reader.other(sequence)) return;
        const isTrue = await this.membership.noteLeave({ agentId, leafHash, signature });
        this.#caretaker.left(agentId);
        if (isTrue) return;
        const text = `${agentId} left, but did not sign about its present leaf; ask an owner to remove it`;
        return this.health.report("void_leave", text);
      }
      case "DeliverLapse":
        if (this.#reader.other(notice.body.sequence)) await this.membership.noteLapse(notice.body);
        return;
      case "DeliverGap": {
        const { messages, reason, lastSequence } = notice.body;
        if (!this.#reader.other(lastSequence)) return;
        const why = reason === "age" ? "were too old" : "were too many";
        this.health.report("dropped_by_relay", `The relay gave up ${messages} messages that ${why}`, messages);
        this.tell({ type: "gap", messages, reason });
      }
    }
  }

  async #follow(verdict: Verdict, commit?: NoticeBody<"DeliverCommit">): Promise<void> {
    switch (verdict.kind) {
      case "ok":
        return;
      case "fetch_again":
        return await this.#fetchAgain(verdict.afterMs);
      case "removed":
        // A commit that answers our request to rejoin removes us first.
        if (this.#rejoiner.reason !== undefined) return;
        if (verdict.again) return this.#comeBack({ reason: "it was removed and added again" });
        this.#removed(commit);
        return await this.erase();
      case "stopped":
        return await this.#stopAt(verdict.commit, verdict.reason);
      case "out_of_step":
        await this.membership.explainFork();
        this.#comeBack(verdict);
    }
  }

  /** A commit that its sender signed and that we cannot follow. Everything stays as it is until an owner founds anew. */
  async #stopAt(commit: NoticeBody<"DeliverCommit">, reason: string): Promise<void> {
    const bad = this.membership.badCommitOf(commit, reason);
    if (bad === undefined) return this.#comeBack({ reason });
    await this.#recovery.stop(bad);
    this.outbox.suspend();
    this.#clearance.withdraw();
    this.#caretaker.stop();
    this.#askWhenRead();
  }

  /** We may be the only one that cannot follow. What is unread would be lost by coming back, so it is read first. */
  #askWhenRead(): void {
    const bad = this.#recovery.stopped;
    if (bad !== undefined && this.inbox.unread === 0) this.#rejoiner.start({ reason: bad.reason });
  }

  /** While we are stopped, entries are looked at for a founding alone; none of them is acknowledged as done with. */
  #passOver(notice: NoticeEnvelope): void {
    this.#askWhenRead();
    if (notice.operation !== "DeliverMessage" && notice.operation !== "DeliverCommit") return;
    const { body } = notice;
    if ("ciphertext" in body) this.#recovery.passOver();
    this.#subscription.received(body.sequence, "ciphertext" in body ? body.ciphertext.length : body.commit.length);
  }

  /** The place of an entry that belongs to a generation which we do not follow. */
  #foreignEntry(notice: NoticeEnvelope): number | undefined {
    if (notice.operation !== "DeliverMessage" && notice.operation !== "DeliverCommit") return undefined;
    const { epoch, sequence } = notice.body;
    return this.#foreign !== undefined && generationOf(epoch) >= this.#foreign ? sequence : undefined;
  }

  /** Somebody began a new generation. */
  async #founded(entry: NoticeBody<"DeliverFounding">): Promise<void> {
    const { sequence, epoch } = entry;
    if (!this.#reader.rises(sequence)) return;
    const hash = foundingHash({ channelId: this.channelId, ...entry.founding });
    // We are in it already, and read the log again.
    if (epoch < this.membership.epoch) return this.#reader.founded({ sequence, epoch, hash, own: false });
    const followed = await this.#recovery.follow(entry);
    if (followed === "refused") {
      this.#foreign = entry.founding.generation;
      return this.#reader.passForeign(sequence);
    }
    if (!("behind" in followed)) {
      await this.#entered(followed);
      return this.#goOn();
    }
    this.#recovery.clear();
    this.#rejoiner.stop();
    this.#rejoiner.done();
    this.health.report("rejoined", `The channel was begun anew, and this agent asks to be let in: ${followed.behind}`);
    this.#comeBack({ reason: followed.behind, generation: entry.founding.generation });
  }

  /** Nothing is sent in the new generation before the connection has shown that our store is as new as what we did. */
  async #settleFounding(): Promise<void> {
    const begun = await this.#recovery.settle();
    if (begun !== undefined) await this.#entered(begun);
  }

  /** Our group is in the new generation; nothing else has run since. */
  async #entered(begun: Begun): Promise<void> {
    this.#rejoiner.stop();
    this.#rejoiner.done();
    this.committer.forget();
    this.#reader.founded(begun);
    this.#hasFounded = begun.own;
    this.#relayEpoch = Math.max(this.#relayEpoch, begun.epoch + 1);
    await this.#progress.flush();
    this.#caretaker.start();
  }

  /** From here on the channel works as before. */
  #goOn(): void {
    this.#caughtUp = true;
    this.#clearance.give();
    this.outbox.resume();
    this.#caretaker.look();
    this.#tellReady();
    if (!this.#hasFounded) return;
    this.#hasFounded = false;
    this.#strikeLeft().catch((error) => this.#dutyFailed(error));
  }

  /** Absent members that have left, or that the relay no longer has, will not come back by themselves. */
  async #strikeLeft(): Promise<void> {
    const { channelId, membership } = this;
    if (membership.absent.length === 0) return;
    const { members } = await this.#deps.session.call("ListMembers", { channelId });
    const here = new Set(members.filter(({ leaving }) => !leaving).map(({ agentId }) => agentId));
    await this.committer.commit(() => {
      const strike = membership.absent.filter((agentId) => !here.has(agentId));
      const owners = membership.group.binding.owners.filter((owner) => !strike.includes(owner));
      return strike.length === 0 ? undefined : { change: { strike, owners } };
    });
  }

  #dutyFailed(error: unknown): void {
    const text = `Members that are gone are still listed: ${toStaticError(error, "Cannot commit").message}`;
    this.health.report("duty_failed", text);
  }

  /** The relay has taken back why we were to join anew, and nothing was written yet. */
  #stay(): void {
    this.#isByWord = false;
    if (this.#rejoiner.reason === undefined) return;
    this.#rejoiner.stop();
    this.#rejoiner.done();
    this.#caretaker.start();
  }

  /** `byWord`: by nothing but what the relay said about its log and us. */
  #comeBack(doubt: Doubt, byWord = false): void {
    this.#isByWord = byWord && (this.#isByWord || this.#rejoiner.reason === undefined);
    this.#subscription.lost();
    this.#caughtUp = false;
    this.outbox.suspend();
    this.#clearance.withdraw();
    this.#caretaker.stop();
    this.#rejoiner.start(doubt);
  }

  async #refill(): Promise<void> {
    if (!this.#reader.isPassingOver) return;
    this.#reader.resumeReading();
    await this.#fetchAgain();
  }

  /** What comes meanwhile is not looked at: it will come again. */
  async #fetchAgain(afterMs = 0): Promise<void> {
    if (afterMs === 0) return await this.#reopen();
    this.#subscription.lost();
    this.#caughtUp = false;
    const connection = this.#connections;
    pause(this.#deps.runtime, afterMs, this.#stop.signal)
      .then(() => this.#entries.run(() => connection === this.#connections ? this.#reopen() : Promise.resolve()))
      .catch((fault) => this.#die(fault));
  }

  async #reopen(): Promise<void> {
    if (this.#ended !== undefined || (this.#rejoiner.reason !== undefined && this.#recovery.stopped === undefined)) {
      return;
    }
    try {
      await this.#subscription.open(this.#reader.received);
      this.#caughtUp = true;
    } catch (error) {
      if (!(error instanceof StaticError)) throw error;
      // As after a lost connection: until it works, or the relay has said why it never will.
      this.connection(this.#deps.session.state.kind === "online");
    }
  }

  /** Of the parts none ever sees another's old state: between the write and the last of them nothing else runs. */
  async #rejoined(joinedSequence: number, write: () => Promise<Entered>): Promise<boolean> {
    // A new generation may have begun meanwhile, and made this of no use.
    if (this.#ended !== undefined || this.#rejoiner.reason === undefined) return false;
    const entered = await write();
    this.#recovery.clear();
    this.membership.replace(entered);
    this.committer.forget();
    this.#storeAge.restart(joinedSequence);
    this.#reader.restart(joinedSequence);
    this.senders.clear();
    this.#progress.restart(joinedSequence);
    this.#rejoiner.done();
    await this.outbox.restart();
    this.#subscription.restart(joinedSequence);
    this.#caretaker.start();
    this.health.report("rejoined", "This agent was out of step and joined anew; messages in between are lost to it");
    this.connection(this.#deps.session.state.kind === "online");
    return true;
  }

  /**
   * Nothing more will come. That is the relay's word, so the keys stay: only a commit that we verified, or leaving, erases
   * them.
   */
  #endedBy(reason: ChannelEndReason): void {
    if (reason === "lapsed") return this.#comeBack({ reason: "it was absent for too long" });
    if (this.#rejoiner.reason !== undefined && reason !== "recovered") return;
    if (reason === "removed") return this.#removed(undefined);
    const why = { closed: "was closed", left: "was left", recovered: "was begun anew without this agent" }[reason];
    const text = `Channel "${this.name}" ${why}; create it again, or ask for a new invite token`;
    this.#end(createError("not_found", text));
  }

  /** By this commit, or by the relay's word. */
  #removed(commit: NoticeBody<"DeliverCommit"> | undefined): void {
    const text = `This agent was removed from channel "${this.name}"; ask an owner for a new invite token`;
    this.#end(createError("removed", text, commit && { by: commit.sender, atMs: commit.timeMs }));
  }

  #isExpired({ fields: { expiryMs }, kind, id, sender }: Incoming): boolean {
    if (expiryMs === undefined || this.#deps.relayNowMs() < expiryMs) return false;
    this.tell({ type: "expired", kind, id, sender });
    return true;
  }

  #membersMoved(moved: Moved): void {
    const { membership } = this;
    for (const agentId of moved.added) this.senders.begin(agentId, membership.epoch);
    for (const agentId of moved.removed) if (!moved.added.includes(agentId)) this.requester.gone(agentId);
    for (const event of memberEvents(moved, membership)) this.tell(event);
    if (moved.committer === this.#deps.agentId) this.#rejoiner.forgetKeys().catch((fault) => this.#die(fault));
    this.#tellReady();
  }

  /** The background work itself failed: a disk that does not write, or a mistake of ours. */
  #die(fault: unknown): void {
    const { message } = toStaticError(fault, "background work");
    const text = `Channel "${this.name}" stopped: ${message}. Close the client and connect again`;
    this.#end(createError("listener_died", text, { cause: fault }));
  }

  /** Loops end with the error, or quietly without one; whoever waits for something else is told `toOthers`. */
  #end(error: StaticError | undefined, toOthers = error): void {
    if (this.#ended !== undefined) return;
    this.#ended = { error };
    this.#stop.abort();
    this.#subscription.lost();
    this.#caretaker.stop();
    this.#rejoiner.stop();
    this.#progress.stop();
    const over = toOthers ?? createError("not_found", `Channel "${this.name}" was left; join it again`);
    this.#over = over;
    this.service.end();
    this.requester.end(over);
    this.inbox.end(error);
    this.outbox.end(over);
    this.membership.end(over);
    this.#clearance.end(over);
    this.tell({ type: "ended", error });
    this.events.end();
  }

  #doneWith(items: readonly InboxItem[], changes: readonly RecordChange[]): Promise<void> | undefined {
    const written = this.#progress.note([...this.#reader.changesOf(items), ...changes], items.length);
    if (this.#recovery.stopped !== undefined) this.#askWhenRead();
    if (this.#reader.isPassingOver && this.inbox.isNearlyEmpty) {
      this.#entries.run(() => this.#refill()).catch((fault) => this.#die(fault));
    }
    return written;
  }

  async #durable(position: number): Promise<void> {
    this.#subscription.consumed(position);
    const { oldestEpoch } = this.#reader;
    if (oldestEpoch <= this.#forgottenBefore) return;
    this.#forgottenBefore = oldestEpoch;
    await this.membership.durable.forgetBefore(oldestEpoch);
  }
}

function isOfChannel(event: ChannelEventBody | ConnectionEvent): event is ChannelEventBody {
  return event.type !== "connected" && event.type !== "disconnected" && event.type !== "reconnecting";
}
