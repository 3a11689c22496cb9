/**
 * One connected client. Requests come in as envelopes and are answered in any order; deliveries go
 * out in turns, channel by channel, while the link has room. A session ends with a reason that the
 * client is told.
 */
import {
  type CallName,
  calls,
  type ChannelId,
  type ClientEnvelope,
  type CoverMode,
  decodeClientEnvelope,
  encodeError,
  encodeNotice,
  encodeReply,
  type JoinRequestId,
  limits,
  type NoticeBody,
  type NoticeName,
  notices,
  type ReplyBody,
  WireError,
} from "../../../proto/mod.ts";
import { EngineError } from "../../engine/errors.ts";
import type { ConnectedAgent } from "./agent.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { LogMoment } from "../cluster.ts";
import type { CoreConfig } from "../config.ts";
import type { CoreDeps } from "../deps.ts";
import type { FairTurns } from "../limits/fair_turns.ts";
import type { ClientLink, CoreSession, EndReason } from "../client_link.ts";
import { comesAgain, logSilent, Refusal, relayFailed } from "../refusal.ts";
import { RefusedRuns } from "./refused_runs.ts";
import { costOf } from "../limits/request_cost.ts";
import { PiggybackedStatements } from "./piggyback.ts";
import { partyOf } from "../limits/shares.ts";
import { DiskRefusal } from "../limits/storage_watch.ts";
import type { DeliverySink, ReadingEnd, Subscription } from "../channel/subscription.ts";

/** The rest of the core as a session needs it. */
export interface SessionHost {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  /** Carries out a request; rejects with `Refusal` for an expected no. */
  handle(session: Session, envelope: ClientEnvelope): Promise<ReplyBody<CallName>>;
  readonly turns: FairTurns;
  /**
   * Why a request is not even looked at: because of load, or because its account has had its share
   * of the work.
   */
  refuse(session: Session, envelope: ClientEnvelope): Refusal | undefined;
  /** The session has asked for something, or reads another number of channels. */
  used(session: Session): void;
  ended(session: Session): void;
  /**
   * Ends the session if another relay has the room that this one's disk does not have. Returns
   * whether it did.
   */
  sentElsewhere(session: Session): boolean;
  /** The session's client knows that it is authenticated: tell it what waited for it. */
  greet(session: Session): void;
  /**
   * Sends requests to join and Welcomes that wait for this session, as far as its link has room.
   */
  pushWaiting(session: Session): void;
}

const refusedPauseMs = 100;
/** Beyond what deliveries may fill: replies to requests that the client sends without reading. */
const replyReserveBytes = 2 * limits.envelopeBytes;
/**
 * Limits on the pages of logs that wait for one session: about so much for all together, and each
 * page within these.
 */
const pagesBytes = 2 * 1024 * 1024;
const minPageBytes = 32 * 1024;
const maxPageBytes = 256 * 1024;
/**
 * Pages of one session that are being read: more would have to wait in memory, because the link
 * takes one at a time.
 */
const readsAtOnce = 16;
/** Timers of runtimes take no more than 2^31 - 1 ms; a longer one would fire at once. */
const longestTimerMs = 20 * 24 * 60 * 60 * 1000;

interface OpenSubscription {
  readonly channel: LoadedChannel;
  readonly subscription: Subscription;
}

export class Session implements CoreSession, DeliverySink {
  readonly link: ClientLink;
  readonly openedAtMs: number;
  readonly #subscriptions = new Map<ChannelId, OpenSubscription>();
  /** Requests to join that its agent has not been sent. Some may have ended. */
  readonly joins = new Set<JoinRequestId>();
  /** Channels whose Welcome for this agent is to be pushed. */
  readonly welcomes = new Set<LoadedChannel>();
  agent: ConnectedAgent | undefined;
  readonly refusedRuns = new RefusedRuns();
  /**
   * The nonce that may be answered, and until when. `since`: when its client asked for it, where
   * relays share a log. `features` are those that the session gets.
   */
  challenge: {
    readonly nonce: Uint8Array;
    readonly untilMs: number;
    readonly since?: LogMoment | undefined;
    readonly features: readonly number[];
  } | undefined;
  challenged = false;
  /** The cover that a client wants before it has authenticated: strangers are sent no cover. */
  #cover: { readonly mode: CoverMode; readonly intervalMs: number } | undefined;
  readonly #host: SessionHost;
  /** Subscriptions that want a turn, in order. */
  readonly #turns = new Set<Subscription>();
  readonly #riders = new PiggybackedStatements(this.#subscriptions);
  /** Subscriptions that hold a page which they have just read. */
  readonly #ready = new Set<Subscription>();
  #reads = 0;
  #running = false;
  #blocked = false;
  #cancelSlow: () => void = () => {};
  #cancelDeadline: () => void = () => {};
  #inFlight = 0;
  #room: PromiseWithResolvers<void> | undefined;
  #ending = false;
  #ended = false;
  /** The last request that adds to a log has been given to the engine when this resolves. */
  #order: Promise<void> | undefined;

  constructor(link: ClientLink, host: SessionHost) {
    this.link = link;
    this.#host = host;
    this.openedAtMs = host.deps.nowMs();
    this.expireAfter(host.config.authenticationMs, {
      code: "auth_failed",
      message: "The connection did not ask for a challenge in time",
    });
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** Nothing is under way, either way: it may end without anything coming twice. */
  get isQuiet(): boolean {
    return !this.#ended && this.#inFlight === 0 && this.link.pendingBytes === 0 &&
      [...this.#subscriptions.values()].every(({ channel, subscription }) =>
        !subscription.hasUnreceived && subscription.position >= channel.head
      );
  }

  receive(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#ended) return undefined;
    const envelope = this.#decode(bytes);
    if (envelope === undefined) return undefined;
    this.#host.deps.meter.requests++;
    this.#host.used(this);
    const refusal = this.#refusalFor(envelope);
    if (refusal !== undefined) {
      this.#refuseRun(envelope, refusal);
      this.#refuse(envelope, refusal);
      return refusal.code === "rate_limited" ? this.#pause() : undefined;
    }
    this.#inFlight++;
    this.#handle(envelope).then(
      (body) => this.#answer(envelope, body),
      (error: unknown) => this.#refuse(envelope, error),
    ).catch((error: unknown) => this.#replyFailed(error)).finally(() => this.#requestDone());
    if (this.#inFlight < this.#host.config.requestsInFlight) return undefined;
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  rider(room: number): Uint8Array | undefined {
    return this.#ended ? undefined : this.#riders.next(room);
  }

  configureCover(cover: { readonly mode: CoverMode; readonly intervalMs: number }): void {
    this.#cover = cover;
    if (this.agent !== undefined) this.link.configureCover(cover.mode, cover.intervalMs);
  }

  /** The session has an agent now. */
  authenticated({ account }: ConnectedAgent): void {
    this.link.authenticated(account);
    if (this.#cover !== undefined) this.configureCover(this.#cover);
  }

  writable(): void {
    if (this.#ended) return;
    this.#blocked = false;
    this.#cancelSlow();
    this.#host.pushWaiting(this);
    this.#run();
  }

  closed(): void {
    this.#finish(undefined);
  }

  /** Tells the client why and closes. */
  end(reason: EndReason | undefined): void {
    if (this.#ended || this.#ending) return;
    this.#ending = true;
    if (reason !== undefined) this.notify("SessionEnding", reason);
    this.#finish(reason);
    this.link.end(reason);
  }

  /** Replaces the deadline by which something must have happened. */
  expireAfter(ms: number, reason: EndReason): void {
    this.#cancelDeadline();
    if (this.#ended) return;
    const stepMs = Math.min(ms, longestTimerMs);
    this.#cancelDeadline = this.#host.deps.after(stepMs, () => {
      if (stepMs < ms) this.expireAfter(ms - stepMs, reason);
      else this.end(reason);
    });
  }

  notify<Name extends NoticeName>(operation: Name, body: NoticeBody<Name>): void {
    this.#send(notices[operation].lane, encodeNotice(operation, body));
  }

  get subscriptions(): ReadonlyMap<ChannelId, OpenSubscription> {
    return this.#subscriptions;
  }

  get hasRoom(): boolean {
    return !this.#ended && !this.#blocked;
  }

  deliver(notice: Uint8Array): void {
    const { meter } = this.#host.deps;
    meter.deliveries++;
    meter.deliveredBytes += notice.length;
    this.#send("data", notice);
  }

  get pageBytes(): number {
    return Math.min(
      maxPageBytes,
      Math.max(minPageBytes, Math.floor(pagesBytes / this.#subscriptions.size)),
    );
  }

  queue(subscription: Subscription): void {
    this.#turns.add(subscription);
    this.#run();
  }

  reading(): void {
    this.#reads++;
  }

  hasRead(subscription: Subscription): void {
    this.#reads--;
    this.#ready.add(subscription);
    this.#run();
  }

  finished(subscription: Subscription, { sequence, timeMs, reason }: ReadingEnd): void {
    for (const [channelId, held] of this.#subscriptions) {
      if (held.subscription !== subscription) continue;
      this.unsubscribe(channelId);
      this.notify("DeliverChannelEnd", { channelId, sequence, timeMs, reason });
    }
  }

  failed(error: unknown): void {
    this.#host.deps.log({ event: "fault", where: "delivery", error });
    this.end({
      code: "internal",
      message: "The relay could not read the channel's log; reconnect",
    });
  }

  /** In place of an earlier one to the same channel, which has ended. */
  subscribe(channelId: ChannelId, reading: OpenSubscription): void {
    this.#subscriptions.set(channelId, reading);
    this.#host.used(this);
  }

  unsubscribe(channelId: ChannelId): void {
    const held = this.#subscriptions.get(channelId);
    if (held === undefined) return;
    held.subscription.end();
    this.#turns.delete(held.subscription);
    this.#ready.delete(held.subscription);
    this.#subscriptions.delete(channelId);
    const { agentId } = held.subscription;
    if (held.channel.subscriptions.get(agentId) === held.subscription) {
      held.channel.subscriptions.delete(agentId);
    }
    this.#host.used(this);
  }

  /**
   * Requests that add to a log take effect in the order in which they were sent, although each may
   * have to wait for a channel or a lease first. `release` is called once the engine has the entry.
   */
  async inOrder<T>(run: (release: () => void) => Promise<T>): Promise<T> {
    const before = this.#order;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#order = promise;
    const release = (): void => {
      if (this.#order === promise) this.#order = undefined;
      resolve();
    };
    try {
      if (before !== undefined) await before;
      return await run(release);
    } finally {
      release();
    }
  }

  #decode(bytes: Uint8Array): ClientEnvelope | undefined {
    try {
      const maxBytes = this.agent === undefined
        ? limits.handshakeEnvelopeBytes
        : limits.envelopeBytes;
      return decodeClientEnvelope(bytes, maxBytes);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      if (error.requestId === undefined) this.end({ code: error.code, message: error.message });
      else this.#sendError(error.requestId, new Refusal(error.code, error.message));
      return undefined;
    }
  }

  #refusalFor(envelope: ClientEnvelope): Refusal | undefined {
    const { operation } = envelope;
    if (this.agent === undefined && !calls[operation].open) {
      return new Refusal(
        "auth_failed",
        `${operation} needs an authenticated session; authenticate first`,
      );
    }
    return this.#host.refuse(this, envelope);
  }

  /** A message that is refused unseen must not be overtaken either. */
  #refuseRun(envelope: ClientEnvelope, refusal: Refusal): void {
    if (
      this.agent === undefined || envelope.kind !== "request" ||
      envelope.operation !== "SendMessage"
    ) return;
    const { channelId, run } = envelope.body;
    // Only runs in channels that the session reads are kept: a stranger to all others fills no
    // memory.
    if (run === undefined || !comesAgain(refusal) || !this.#subscriptions.has(channelId)) return;
    this.refusedRuns.add(channelId, run, refusal);
  }

  /** Refusing costs too: a client that keeps asking is read more slowly. */
  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#host.deps.after(refusedPauseMs, resolve));
  }

  /** When its party has a turn; strangers have one together. */
  #handle(envelope: ClientEnvelope): Promise<ReplyBody<CallName>> {
    const party = this.agent === undefined ? "strangers" : partyOf(this.agent);
    const turn = this.#host.turns.take(party, costOf(envelope.operation));
    return turn === undefined
      ? this.#host.handle(this, envelope)
      : turn.then(() => this.#host.handle(this, envelope));
  }

  #answer(envelope: ClientEnvelope, body: ReplyBody<CallName>): void {
    if (envelope.kind === "notice") return;
    const { id, operation } = envelope;
    this.#send(calls[operation].lane, encodeReply(id, operation, body));
    if (operation === "GetChallenge" && !this.challenged) {
      this.challenged = true;
      this.link.challenged();
    }
    // After the reply: the client learns who it is before anything is pushed.
    if (operation === "Authenticate") this.#host.greet(this);
    if (operation === "EndSession") this.end(undefined);
  }

  /** A notice that rides in cells is not answered, because that would make a cell. */
  #refuse({ id, kind, operation }: ClientEnvelope, error: unknown): void {
    if (operation === "Confirm" && kind === "notice" && error instanceof Refusal) {
      this.#host.deps.meter.requestErrors++;
    } else if (!(error instanceof DiskRefusal && this.#host.sentElsewhere(this))) {
      this.#sendError(id, error);
    }
  }

  #sendError(id: number, error: unknown): void {
    const { meter, log } = this.#host.deps;
    meter.requestErrors++;
    if (error instanceof Refusal) {
      if (error.code === "storage_full") meter.storageRefusals++;
      return this.#send("control", encodeError(id, error.body));
    }
    if (error instanceof WireError) {
      return this.#send("control", encodeError(id, { code: error.code, message: error.message }));
    }
    if (error instanceof EngineError && error.code === "unavailable") {
      return this.#send("control", encodeError(id, logSilent().body));
    }
    log({ event: "fault", where: "request", error });
    this.#send("control", encodeError(id, relayFailed().body));
  }

  /** A reply that cannot be made is a fault of ours: it costs this session, and nobody else's. */
  #replyFailed(error: unknown): void {
    this.#host.deps.log({ event: "fault", where: "reply", error });
    this.end({ code: "internal", message: "The relay failed to reply; reconnect" });
  }

  #requestDone(): void {
    this.#inFlight--;
    if (this.#inFlight >= this.#host.config.requestsInFlight) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  #send(lane: "control" | "data", envelope: Uint8Array): void {
    if (this.#ended) return;
    this.link.send(lane, envelope);
    const { pendingBytes } = this.link;
    const { highWaterBytes } = this.#host.config;
    if (pendingBytes < highWaterBytes) return;
    // A stranger has nothing to wait for but short replies.
    const reserveBytes = this.agent === undefined ? 0 : replyReserveBytes;
    if (pendingBytes > highWaterBytes + reserveBytes) return this.#cutOff();
    if (this.#blocked || this.#ending) return;
    this.#blocked = true;
    this.#watchSlow(pendingBytes);
  }

  /** A link that writes, however slowly, is left alone; one that writes nothing is cut off. */
  #watchSlow(pendingBytes: number): void {
    this.#cancelSlow();
    this.#cancelSlow = this.#host.deps.after(this.#host.config.slowReaderMs, () => {
      if (this.link.pendingBytes >= pendingBytes) this.#cutOff();
      else this.#watchSlow(this.link.pendingBytes);
    });
  }

  #cutOff(): void {
    this.#host.deps.meter.slowReaders++;
    this.end({
      code: "slow_reader",
      message: "The client does not read; reconnect and resume from the last position",
    });
  }

  /**
   * Gives every waiting subscription its turn while there is room. Not re-entrant: a turn may queue
   * another.
   */
  #run(): void {
    if (this.#running) return;
    this.#running = true;
    try {
      for (const subscription of this.#ready) {
        if (!this.hasRoom) return;
        this.#ready.delete(subscription);
        subscription.pump();
      }
      for (const subscription of this.#turns) {
        if (!this.hasRoom || this.#reads >= readsAtOnce) return;
        this.#turns.delete(subscription);
        subscription.pump();
      }
    } finally {
      this.#running = false;
    }
  }

  #finish(reason: EndReason | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelDeadline();
    this.#cancelSlow();
    this.#room?.resolve();
    for (const channelId of [...this.#subscriptions.keys()]) this.unsubscribe(channelId);
    this.joins.clear();
    this.welcomes.clear();
    this.#host.ended(this);
    this.#host.deps.log({
      event: "session_end",
      ...(this.agent && { agentId: this.agent.agentId }),
      ...(reason && { code: reason.code }),
      ms: this.#host.deps.nowMs() - this.openedAtMs,
    });
  }
}
