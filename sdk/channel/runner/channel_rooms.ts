/**
 * The rooms of a channel, as they are made: each is given those that it asks or works with, and the
 * door to the root, which tells those that a finding is for.
 */
import type { ChannelId, ChannelName } from "../../../proto/mod.ts";
import { EventStream } from "../../base/event_stream.ts";
import { askingOf, type IncomingEnvelope } from "../../content/incoming.ts";
import type { ContentPorts } from "../../content/ports.ts";
import { Requester } from "../../content/requester.ts";
import { Service } from "../../content/service.ts";
import { createPorts } from "./content_ports.ts";
import { MemberWatch } from "../member_watch.ts";
import type { ChannelDeps } from "../deps.ts";
import type { EnteredChannel } from "../entering.ts";
import type { ChannelEvent, ChannelEventBody, ConnectionEvent } from "../events.ts";
import { judgeFounding } from "../recovery/following.ts";
import { HealthLog } from "../health.ts";
import { KeptCommits } from "./kept_commits.ts";
import type { LeaveParts } from "../departure/leave_request.ts";
import { memberEvents } from "../group/member_events.ts";
import { type CommitChanges, Membership } from "../group/membership.ts";
import { Newcomers } from "../group/newcomers.ts";
import { planOf } from "../commits/plans.ts";
import { Senders } from "../reading/senders.ts";
import type { RootEvent } from "../root/root_state.ts";
import { StoreAge } from "./store_age.ts";
import {
  isAllRead,
  linkFactsOf,
  maxAgeMs,
  planFactsOf,
  sightOf,
  stoppedError,
} from "./channel_facts.ts";
import { ChannelQueue } from "./channel_queue.ts";
import { CommitRunner } from "./commit_runner.ts";
import { ConfirmationRunner } from "./confirmation_runner.ts";
import { DepartureRunner } from "./departure_runner.ts";
import { DutiesRunner } from "./duties_runner.ts";
import type { RootDoor } from "./root_door.ts";
import { EpochWaiters } from "./epoch_waiters.ts";
import { type InboxItem, InboxRunner } from "./inbox_runner.ts";
import { KeyAgeRunner } from "./key_age_runner.ts";
import { LinkRunner } from "./link_runner.ts";
import { takenOf } from "./notice_kinds.ts";
import { createNoticeReader } from "./notices.ts";
import { OutboxRunner } from "./outbox_runner.ts";
import { OrderRunner } from "./order_runner.ts";
import { type NotedChange, PositionRunner } from "./position_runner.ts";
import { ReceiptRunner } from "./receipt_runner.ts";
import { ReadingRunner } from "./reading_runner.ts";
import { RecoveryRunner } from "./recovery_runner.ts";
import type { Rooms } from "./rooms.ts";
import { LogTurns } from "./log_turns.ts";
import { findCommit } from "./find_commit.ts";

export interface ChannelParts extends EnteredChannel {
  /** False for an agent that only sends. */
  readonly receive: boolean;
  readonly found: RootDoor;
  /** All is read, and the program was told. */
  readonly isReady: () => boolean;
  /** A call to leave has failed, and everything is as before. */
  readonly stayed: (operation: number, error: unknown) => void;
}

const taken: RootEvent = { from: "inbox", type: "taken" };
const durable: RootEvent = { from: "position", type: "durable" };
const moved: RootEvent = { from: "group", type: "moved" };

export class ChannelRooms implements Rooms {
  readonly events = new EventStream<ChannelEvent>();
  readonly turns = new LogTurns();
  readonly queue: ChannelQueue;
  readonly health: HealthLog;
  readonly membership: Membership;
  readonly epochs: EpochWaiters;
  readonly watch: MemberWatch;
  readonly newcomers: Newcomers;
  readonly storeAge: StoreAge;
  readonly senders: Senders;
  readonly commits: CommitRunner;
  readonly ages: KeyAgeRunner;
  readonly confirmations: ConfirmationRunner;
  readonly order: OrderRunner;
  readonly outbox: OutboxRunner;
  readonly receipts: ReceiptRunner;
  readonly requester: Requester;
  readonly service: Service;
  readonly inbox: InboxRunner;
  readonly reading: ReadingRunner;
  readonly position: PositionRunner;
  readonly duties: DutiesRunner;
  readonly recovery: RecoveryRunner;
  readonly link: LinkRunner;
  readonly departure: DepartureRunner;
  /** The channel cannot go on. */
  readonly onFault: (fault: unknown) => void;
  readonly #deps: ChannelDeps;
  readonly #found: RootDoor;
  readonly #kept: KeptCommits;

  /** In this order, because those that hear of commits and moves hear of them in it. */
  constructor(parts: ChannelParts, deps: ChannelDeps) {
    this.#deps = deps;
    const found = this.#found = parts.found;
    const onFault = this.onFault = (fault) => void found({ from: "any", type: "fault", fault });
    const queue = this.queue = new ChannelQueue((ms, run) => deps.runtime.after(ms, run), onFault);
    const health = this.health = new HealthLog(
      () => deps.runtime.nowMs(),
      (event) => this.tell(event),
    );
    const membership = this.membership = new Membership({ ...parts, health }, deps);
    this.epochs = new EpochWaiters({ membership, queue });
    this.watch = new MemberWatch({ membership, health }, deps);
    this.newcomers = new Newcomers(membership.agentIds);
    this.storeAge = new StoreAge({ anchor: parts.anchor, membership }, deps);
    const commits = this.commits = this.#createCommits(parts);
    const ages = this.ages = new KeyAgeRunner({
      seen: parts.keyAges,
      membership,
      commits,
      health,
      queue,
    }, deps);
    this.senders = new Senders(parts.senders, parts.record.since);
    const said = { ...parts, membership, health, isCurrent: parts.isReady, queue, onFault };
    this.confirmations = new ConfirmationRunner(said, deps);
    this.order = this.#createOrder(parts);
    this.outbox = this.#createOutbox(parts);
    this.receipts = this.#createReceipts(parts);
    const ports = this.#createPorts();
    this.requester = new Requester(ports);
    this.service = new Service(ports);
    this.inbox = this.#createInbox(parts);
    this.reading = this.#createReading(parts);
    this.position = this.#createPosition(parts);
    this.duties = new DutiesRunner({ membership, commits, health, ages, queue }, deps);
    const kept = this.#kept = new KeptCommits(membership, deps);
    this.recovery = this.#createRecovery(parts);
    this.link = this.#createLink(parts);
    this.departure = this.#createDeparture(parts);
    membership.onCommit(({ signed }) => signed === undefined ? [] : kept.keep(signed));
    membership.onMoved((moved) => this.#membersMoved(moved));
  }

  get channelId(): ChannelId {
    return this.membership.channelId;
  }

  get name(): ChannelName {
    return this.membership.name;
  }

  /** The parts for the statement by which this agent leaves. */
  get leaves(): LeaveParts {
    return { membership: this.membership, recovery: this.recovery, storeAge: this.storeAge };
  }

  /** Tells listeners of this channel, and of the client. */
  tell(event: ChannelEventBody | ConnectionEvent): void {
    const told = { ...event, atMs: this.#deps.runtime.nowMs(), channel: this.name };
    this.events.tell(told);
    if (isOfChannel(event)) {
      this.#deps.onEvent({ ...event, atMs: told.atMs, channel: told.channel });
    }
  }

  #createCommits({ candidate, given }: ChannelParts): CommitRunner {
    const { membership, health } = this;
    return new CommitRunner({
      ...{ membership, health, candidate, given, queue: this.queue },
      work: () => this.link.work,
      departure: () => this.departure.stage(),
      stopped: () => stoppedError(this),
      planOf: (plan, leavers) => planOf(plan, planFactsOf(this, leavers)),
      isKeyOld: () => this.ages.isOld,
      lastHeard: () => {
        this.confirmations.verifyAll();
        return (agentId) => this.confirmations.known(agentId).lastHeardMs;
      },
      onDiscarded: (prepared) => this.storeAge.discarded(prepared),
      found: this.#found,
      onFault: this.onFault,
    }, this.#deps);
  }

  #createOrder({ order, position, record: { joinedEpoch } }: ChannelParts): OrderRunner {
    const { membership, health, onFault } = this;
    const { store, signatures: { longHash } } = this.#deps;
    const durable = (): number => this.position.durable;
    const beginning = { record: order, position: position?.sequence, joinedEpoch };
    return new OrderRunner(beginning, { membership, health, longHash, store, durable, onFault });
  }

  #createOutbox({ counters }: ChannelParts): OutboxRunner {
    const { membership, health, confirmations, order } = this;
    const work = (): LinkRunner["work"] => this.link.work;
    return new OutboxRunner({
      ask: (id, to) => this.receipts.ask(id, to),
      ...{
        counters,
        membership,
        health,
        confirmations,
        order,
        queue: this.queue,
        work,
        onFault: this.onFault,
      },
    }, this.#deps);
  }

  #createReceipts({ receipts }: ChannelParts): ReceiptRunner {
    const { membership, health, outbox, queue } = this;
    return new ReceiptRunner({
      ...{ receipts, membership, health, outbox, queue },
      position: () => this.position,
      work: () => this.link.work,
      isHere: (id, sender) => this.inbox.has(id, sender),
    }, this.#deps);
  }

  #createPorts(): ContentPorts {
    const { membership, epochs, outbox, health } = this;
    return createPorts({
      ...{ membership, epochs, outbox, health },
      maxAgeMs: () => maxAgeMs(this.#deps.session),
      progress: () => this.position,
    }, this.#deps);
  }

  #createInbox({ receive }: ChannelParts): InboxRunner {
    return new InboxRunner({
      onDone: (items, changes) => this.#doneWith(items, changes),
      isFarAhead: () => this.position.isFarAhead,
      nearer: () => this.position.isFarAhead ? this.position.flush() : undefined,
      written: () => this.position.written(),
      onRequest: (request) => this.service.request(request),
      onReply: (reply) => void this.requester.reply(reply).catch(this.onFault),
      isExpired: (message) => this.#isExpired(message),
      discard: !receive,
      after: (ms, run) => this.#deps.runtime.after(ms, run),
      receipts: this.receipts,
    });
  }

  #doneWith(items: readonly InboxItem[], changes: readonly NotedChange[]): void {
    this.position.note([...this.reading.changesOf(items), ...changes], items.length);
    void this.#found(taken);
  }

  #isExpired({ fields, kind, id, sender }: IncomingEnvelope): boolean {
    const { expiryMs } = fields;
    if (expiryMs === undefined || this.#deps.relayNowMs() < expiryMs) return false;
    this.health.tell({ type: "expired", kind, id, sender });
    const asking = askingOf({ fields, id, sender });
    if (asking !== undefined) this.position.note(this.receipts.expired(asking, false));
    return true;
  }

  #createReading(
    { position, landmarks, record: { joinedEpoch }, receive }: ChannelParts,
  ): ReadingRunner {
    const { membership, commits, senders, inbox, health, confirmations, order, receipts } = this;
    const { runtime, session, store, agentId, relayNowMs, recogniser } = this.#deps;
    return new ReadingRunner({ position, landmarks, joinedEpoch }, {
      ...{
        membership,
        commits,
        senders,
        inbox,
        health,
        confirmations,
        order,
        receipts,
        store,
        agentId,
        relayNowMs,
        recogniser,
      },
      nowMs: () => runtime.nowMs(),
      maxAgeMs: () => maxAgeMs(session),
      discard: !receive,
      stop: () => this.recovery.stopsAt,
      foreign: () => this.recovery.foreignGeneration,
      durable: () => this.position.durable,
      findCommit: (epoch) => findCommit(membership, epoch, this.#deps),
      onDone: (changes) => this.position.note(changes),
      judgeFounding: (founding) =>
        judgeFounding(founding, this.recovery.stopped, membership, this.#deps),
      enter: (founding, verdict) => this.recovery.founded(founding, verdict),
      isDue: (reading) => this.link.isDue(reading),
      onRead: (reading, entry) => this.link.hasRead(reading, entry && takenOf(entry)),
      found: this.#found,
      queue: this.queue,
      onFault: this.onFault,
    });
  }

  #createPosition({ position }: ChannelParts): PositionRunner {
    const { membership, reading } = this;
    const { store } = this.#deps;
    return new PositionRunner(position?.sequence ?? 0, {
      channelId: membership.channelId,
      store,
      position: () => reading.position,
      alongside: (position) => this.order.changesAt(position),
      onDurable: () => {
        void this.#found(durable);
        this.receipts.written();
        return membership.durable.forgetBefore(reading.oldestEpoch);
      },
      onNear: () => this.inbox.near(),
      onFault: this.onFault,
      queue: this.queue,
    });
  }

  #createRecovery({ bad, returnedMs, foreign, foundings }: ChannelParts): RecoveryRunner {
    const { membership, health, storeAge, turns, confirmations } = this;
    return new RecoveryRunner({
      ...{
        bad,
        returnedMs,
        foreign,
        foundings,
        membership,
        health,
        storeAge,
        turns,
        queue: this.queue,
      },
      sight: sightOf(this),
      past: {
        stateAt: (epoch) => confirmations.stateAt(epoch),
        confirmedBy: (agentId) => confirmations.confirmedEpoch(agentId),
        hashOf: (epoch) => this.#kept.hashOf(epoch),
      },
      allHere: () => this.link.allHere(),
      found: this.#found,
      onFault: this.onFault,
    }, this.#deps);
  }

  #createLink({ log }: ChannelParts): LinkRunner {
    const { membership, commits, health, turns, queue, recovery, storeAge } = this;
    const found = this.#found;
    return new LinkRunner({
      ...{ log, channelId: membership.channelId, health, turns, queue, storeAge, found },
      facts: linkFactsOf(this, this.#deps),
      settleStop: () => recovery.settleStop(),
      settleCommit: () => commits.fate(),
      putBack: (epoch) => this.#kept.putBack(epoch),
      findCommit: (epoch) => findCommit(membership, epoch, this.#deps),
      read: createNoticeReader(this, found),
      onFault: this.onFault,
    }, this.#deps);
  }

  #createDeparture({ stayed }: ChannelParts): DepartureRunner {
    return new DepartureRunner({
      ...this.leaves,
      recovery: this.recovery,
      commits: this.commits,
      work: () => this.link.work,
      isAllRead: () => isAllRead(this),
      onStayed: stayed,
      queue: this.queue,
      found: this.#found,
      onFault: this.onFault,
    }, this.#deps);
  }

  #membersMoved({ added, removed, ...by }: CommitChanges): void {
    const { membership } = this;
    for (const agentId of added) this.senders.begin(agentId, membership.epoch);
    for (const agentId of removed) if (!added.includes(agentId)) this.requester.gone(agentId);
    const isOther = added.length + removed.length > 0;
    // Before the events: a listener may ask for them at once.
    if (isOther) this.newcomers.look(membership.agentIds);
    for (const event of memberEvents({ added, removed, ...by }, membership)) this.tell(event);
    void this.watch.look();
    this.confirmations.moved({ added, ...by });
    this.recovery.moved(by.committer === this.#deps.agentId);
    void this.#found(moved);
  }
}

function isOfChannel(event: ChannelEventBody | ConnectionEvent): event is ChannelEventBody {
  return event.type !== "connected" && event.type !== "disconnected" &&
    event.type !== "reconnecting";
}
