/**
 * The relay without sockets: sessions come in as links, everything durable goes to the engine. This module knows which
 * sessions there are and what an entry means for agents that do not read its channel; `upkeep.ts` does what time asks for.
 * Long because everything that requests share about sessions is here.
 */
import {
  type AccountId,
  type AgentId,
  type CallName,
  type ClientEnvelope,
  type NoticeBody,
  type NoticeName,
  parseAgentId,
  type ReplyBody,
} from "../../proto/mod.ts";
import type { Entry } from "../engine/engine.ts";
import { Allowances } from "./limits/allowances.ts";
import { AppendGate } from "./limits/append_gate.ts";
import { Background } from "./background.ts";
import type { Channel } from "./channel/channel.ts";
import type { CoreConfig } from "./config.ts";
import type { CoreStats } from "./core_stats.ts";
import type { CoreDeps } from "./deps.ts";
import { dispatch } from "./requests/dispatch.ts";
import { decodeCommitBody, decodeWelcomeBody } from "./channel/entry_body.ts";
import { FairTurns } from "./limits/fair_turns.ts";
import { JoinPlaces } from "./limits/join_places.ts";
import type { EndReason, Link, RelaySession } from "./link.ts";
import { type SheddingLevel, sheddingLevel, shedRequest } from "./limits/load_shedding.ts";
import { LoadedChannels } from "./channel/loaded_channels.ts";
import { LogId } from "./channel/log_id.ts";
import { type PendingJoin, PendingJoins } from "./channel/pending_joins.ts";
import { type PlaceDeps, placeDepsOf } from "./limits/place_deps.ts";
import { AccountPlans } from "./limits/plans.ts";
import { Rates } from "./limits/rates.ts";
import { Refusal } from "./refusal.ts";
import { type Need, Relief } from "./upkeep/relief.ts";
import { budgetCostOf } from "./limits/request_cost.ts";
import type { CoreParts } from "./requests/request_handler.ts";
import { close } from "./requests/channel_requests.ts";
import { pushJoins } from "./requests/join_requests.ts";
import { askForMore } from "./requests/key_package_claims.ts";
import { expireWithToken } from "./requests/session_requests.ts";
import type { Agent } from "./session/agent.ts";
import { Session, type SessionHost } from "./session/session.ts";
import { SessionPlaces } from "./session/session_places.ts";
import { StorageWatch } from "./limits/storage_watch.ts";
import { TailBudget } from "./limits/tail_budget.ts";
import { followCluster } from "./requests/cluster_events.ts";
import { ConfirmationBudget } from "./limits/confirmation_budget.ts";
import { UnaskedAdditions } from "./limits/unasked.ts";
import { Upkeep } from "./upkeep/upkeep.ts";
import { pushWelcomes } from "./session/welcomes.ts";

/** The longest time that a client waits before it comes back, and the shortest after a drain. */
const drainRetryMs = 5_000;
const minDrainRetryMs = 500;
/** Between two parts of slow work, each about as long: so it has half of the process at most, and others the rest. */
export const slowPauseMs = 2;
/** A session that had to make room comes back late, because there is none; up to twice as late, so that not all come at once. */
const evictedRetryMs = 30_000;
const isSuspended: EndReason = {
  code: "account_suspended",
  message: "The account is suspended or deleted; ask the operator",
};
/** In the log, for what no agent did. */
const nobody = parseAgentId("A".repeat(22));
/** A drain sends a few sessions away at a time. */
const drainTurnMs = 20;
const drainAtOnce = 10;

export interface RelayCore {
  /** A connection. One that cannot be taken is ended through its link, with the reason. */
  open(link: Link): RelaySession;
  /** Takes no more connections, tells every client to come back elsewhere or later, and resolves when all are gone. */
  drain(): Promise<void>;
  /** Ends what is left of sessions, and takes no more. Writes nothing. */
  leave(): Promise<void>;
  /** The same, and writes what is not on disk yet. The engine stays open. */
  close(): Promise<void>;
  stats(): CoreStats;
  /** Ends the sessions of an account and takes no new ones, until it is resumed. */
  suspend(account: AccountId): void;
  resume(account: AccountId): void;
  /** Closes the channels that an account has made. Safe to repeat. */
  closeChannelsOf(account: AccountId): Promise<void>;
}

export function createRelayCore(config: CoreConfig, deps: CoreDeps): RelayCore {
  return new LiveCore(config, deps);
}

class LiveCore implements RelayCore, CoreParts, SessionHost {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  readonly channels: LoadedChannels;
  readonly joins: PendingJoins;
  readonly rates: Rates;
  readonly plans: AccountPlans;
  readonly allowances: Allowances;
  readonly reserves = new Allowances();
  readonly storage: StorageWatch;
  readonly logId: LogId;
  readonly #sessions = new Set<Session>();
  readonly #byAgent = new Map<AgentId, Session>();
  readonly turns: FairTurns;
  readonly slowTurns: FairTurns;
  readonly #placeDeps: PlaceDeps;
  readonly #places: SessionPlaces;
  readonly #gate = new AppendGate();
  readonly unasked = new UnaskedAdditions();
  readonly #background: Background;
  readonly #relief: Relief;
  readonly #upkeep: Upkeep;
  /** Suspended or deleted. */
  readonly #suspended = new Set<AccountId>();
  #draining: PromiseWithResolvers<void> | undefined;
  #cancelDrain: (() => void) | undefined;
  #closed = false;

  constructor(config: CoreConfig, deps: CoreDeps) {
    this.config = config;
    this.deps = deps;
    this.rates = new Rates(config);
    this.#placeDeps = placeDepsOf(deps);
    const { engine, nowMs, cluster } = deps;
    this.joins = new PendingJoins(
      new JoinPlaces(config, this.#placeDeps),
      (requestId) => cluster?.endJoin(requestId),
    );
    this.plans = new AccountPlans(engine.records);
    this.allowances = new Allowances(engine.records);
    this.turns = new FairTurns({ soon: deps.soon });
    this.slowTurns = new FairTurns({ soon: (run) => void deps.after(slowPauseMs, run), turnCost: 1, shareCost: 1 });
    this.#places = new SessionPlaces(config, this.#placeDeps);
    this.logId = new LogId({ records: engine.records, nowMs, randomBytes: deps.randomBytes });
    this.storage = new StorageWatch(() => engine.storage(), nowMs);
    this.channels = new LoadedChannels({
      engine,
      nowMs,
      tails: new TailBudget(config.tailBytesInAll),
      unreadTails: new TailBudget(config.unreadTailBytesInAll),
      confirmations: new ConfirmationBudget(),
      fanOut: {
        turns: this.turns,
        onFault: (error) => deps.log({ event: "fault", where: "fan-out", error }),
      },
      appended: (channel, entry) => this.#appended(channel, entry),
    });
    this.#background = new Background(deps);
    this.#relief = new Relief({ config, deps, channels: this.channels, background: this.#background });
    const { channels, allowances } = this;
    this.#upkeep = new Upkeep({ config, deps, channels, allowances, background: this.#background });
    cluster?.listen(followCluster(this, this.#background));
  }

  open(link: Link): RelaySession {
    const session = new Session(link, this);
    this.#sessions.add(session);
    this.deps.meter.sessionsOpened++;
    if (this.#draining !== undefined || this.#closed) {
      session.end({ code: "relay_draining", message: "The relay is going away", retryAfterMs: drainRetryMs });
    } else if (this.#level() >= 1) {
      this.deps.meter.shed++;
      this.deps.meter.sessionsRefused++;
      session.end({ code: "overloaded", message: "The relay is busy; try again later", retryAfterMs: drainRetryMs });
    }
    return session;
  }

  async drain(): Promise<void> {
    this.#draining ??= Promise.withResolvers();
    this.sendAway("The relay is going away");
    if (this.#sessions.size === 0) this.#draining.resolve();
    await this.#draining.promise;
  }

  async leave(): Promise<void> {
    this.#closed = true;
    await this.drain();
  }

  async close(): Promise<void> {
    await this.leave();
    await this.#upkeep.close();
    this.joins.clear();
  }

  stats(): CoreStats {
    const channels = [...this.channels];
    return {
      sessions: this.#sessions.size,
      authenticated: this.#byAgent.size,
      channels: channels.length,
      subscriptions: channels.reduce((sum, { subscriptions }) => sum + subscriptions.size, 0),
      queueBytes: channels.reduce((sum, { queueBytes }) => sum + queueBytes, 0),
      appendsWaiting: this.#gate.underWay,
      requestsWaiting: this.turns.waiting + this.slowTurns.waiting,
      joinRequests: this.joins.size,
      sheddingLevel: this.#level(),
      storage: { ...this.storage.size, level: this.storage.level },
    };
  }

  suspend(account: AccountId): void {
    this.#suspended.add(account);
    for (const session of [...this.#byAgent.values()]) if (session.agent?.account === account) session.end(isSuspended);
  }

  resume(account: AccountId): void {
    this.#suspended.delete(account);
  }

  suspension(account: AccountId): EndReason | undefined {
    return this.#suspended.has(account) ? isSuspended : undefined;
  }

  async closeChannelsOf(account: AccountId): Promise<void> {
    const limit = 100;
    for (let page = await this.deps.engine.listChannels({ agentId: nobody, account, limit });;) {
      for (const channelId of page.channels) {
        const channel = await this.channels.open(channelId);
        if (channel !== undefined && channel.state.closed === undefined) await close(this, channel, nobody);
      }
      const after = page.channels.at(-1);
      if (!page.more || after === undefined) return;
      page = await this.deps.engine.listChannels({ agentId: nobody, account, limit, after });
    }
  }

  handle(session: Session, envelope: ClientEnvelope): Promise<ReplyBody<CallName>> {
    return dispatch(this, session, envelope);
  }

  refuse({ agent }: Session, envelope: ClientEnvelope): Refusal | undefined {
    const { meter, nowMs } = this.deps;
    const refusal = shedRequest(this.#level(), envelope.operation);
    if (refusal !== undefined) meter.shed++;
    if (refusal !== undefined || agent === undefined) return refusal;
    const retryAfterMs = this.rates.work.take(agent, nowMs(), budgetCostOf(envelope));
    if (retryAfterMs === undefined) return undefined;
    meter.requestsOverBudget++;
    const message = "This account, or this key or visitor of it, asks for more work than its share; try later";
    return new Refusal("rate_limited", message, { retryAfterMs });
  }

  used(session: Session): void {
    this.#places.used(session);
  }

  ended(session: Session): void {
    this.#sessions.delete(session);
    const { agent } = session;
    if (agent !== undefined) {
      if (this.#byAgent.get(agent.agentId) === session) this.#byAgent.delete(agent.agentId);
      if (agent.session !== undefined) this.deps.cluster?.endSession(agent.agentId, agent.session);
      this.#places.leave(session);
    }
    if (this.#sessions.size === 0) this.#draining?.resolve();
  }

  sessionOf(agentId: AgentId): Session | undefined {
    return this.#byAgent.get(agentId);
  }

  get agents(): AgentId[] {
    return [...this.#byAgent.keys()];
  }

  isOnline(agentId: AgentId): boolean {
    return this.#byAgent.has(agentId) || this.deps.cluster?.isOnline(agentId) === true;
  }

  get hasRoom(): boolean {
    return this.#draining === undefined && this.#level() < 1 && this.storage.level === "ok";
  }

  sentElsewhere(session: Session): boolean {
    const { agent } = session;
    if (agent === undefined || this.deps.cluster?.hasRoomElsewhere() !== true) return false;
    if (this.rates.elsewhere.take(agent.agentId, this.deps.nowMs()) !== undefined) return false;
    this.deps.meter.storageRefusals++;
    const message = "The relay's disk is nearly full, and another relay has room";
    session.end({ code: "relay_draining", message, retryAfterMs: minDrainRetryMs });
    return true;
  }

  tell<Name extends NoticeName>(agentId: AgentId, operation: Name, body: NoticeBody<Name>): void {
    const session = this.#byAgent.get(agentId);
    if (session !== undefined) session.notify(operation, body);
    else if (this.isOnline(agentId)) this.deps.cluster?.tell(agentId, operation, body);
  }

  catchUp(): Promise<void> | undefined {
    return this.deps.cluster?.catchUp();
  }

  async isMember(agentId: AgentId): Promise<boolean> {
    return !this.#places.isCrowded || await this.deps.engine.isListed(agentId);
  }

  adopt(session: Session, agent: Agent, isMember: boolean): void {
    const older = this.#byAgent.get(agent.agentId);
    const admitted = this.#places.admit(session, agent, { isMember, older });
    if ("refused" in admitted) {
      this.deps.meter.sessionsRefused++;
      return session.end(admitted.refused);
    }
    older?.end({ code: "session_replaced", message: "A newer session of this agent has taken its place" });
    session.agent = agent;
    this.#byAgent.set(agent.agentId, session);
    if (admitted.evicted !== undefined) this.#evict(admitted.evicted);
    this.learnPlan(agent);
    session.authenticated(agent);
    expireWithToken(session, agent, this.deps.nowMs());
    this.deps.meter.sessionsAuthenticated++;
    this.deps.log({ event: "session_open", agentId: agent.agentId, transport: session.link.transport });
  }

  learnPlan({ account, plan, issuedAtMs }: Agent): void {
    this.#background.run("plan", () => this.plans.learn(account, { plan, issuedAtMs }, this.deps.nowMs()));
  }

  greet(session: Session): void {
    const { agent } = session;
    if (agent !== undefined && !session.isEnded) {
      this.#background.run("greeting", () => this.#greet(session, agent.agentId));
    }
  }

  inTurn<Result>({ account }: Channel, run: () => Promise<Result>): Promise<Result> {
    return this.#gate.pass(account, run);
  }

  touch(channel: Channel): void {
    this.#upkeep.touch(channel);
  }

  relieve(account: AccountId, need: Need): void {
    this.#relief.begin(account, need);
  }

  pushWaiting(session: Session): void {
    pushJoins(session, this.joins);
    pushWelcomes(session, this.#background);
  }

  /** Not all at once, and not all back at once: the relay that takes them over has to greet each of them. */
  sendAway(message: string): void {
    this.#cancelDrain?.();
    this.#sendAway([...this.#sessions], 0, message);
  }

  #sendAway(sessions: readonly Session[], from: number, message: string): void {
    const share = Math.ceil(sessions.length * drainTurnMs / this.config.drainMs);
    const until = this.#closed ? sessions.length : from + Math.max(drainAtOnce, share);
    sessions.slice(from, until).forEach((session, index) => {
      const late = (from + index) / sessions.length;
      const retryAfterMs = Math.round(minDrainRetryMs + late * (drainRetryMs - minDrainRetryMs));
      session.end({ code: "relay_draining", message, retryAfterMs });
    });
    if (until >= sessions.length) return;
    this.#cancelDrain = this.deps.after(drainTurnMs, () => this.#sendAway(sessions, until, message));
  }

  #level(): SheddingLevel {
    const { cluster, loopLagMs } = this.deps;
    return sheddingLevel({
      loopLagMs: loopLagMs(),
      appendsWaiting: this.#gate.underWay,
      verdictMs: cluster?.waitingMs() ?? 0,
    });
  }

  #evict(session: Session): void {
    this.deps.meter.sessionsEvicted++;
    const message = "Its account or the relay has no more places: this session's was given to another";
    const retryAfterMs = Math.ceil(evictedRetryMs * (1 + this.#placeDeps.random()));
    session.end({ code: "overloaded", message, retryAfterMs });
  }

  /** Delivers everything that waited for an agent while it was away. */
  async #greet(session: Session, agentId: AgentId): Promise<void> {
    await askForMore(this, agentId);
    for (const { requestId } of this.joins.ofInviter(agentId)) session.joins.add(requestId);
    this.pushWaiting(session);
    const limit = 500;
    for (let page = await this.deps.engine.listJoining({ agentId, limit });;) {
      await this.#background.each("greeting", page.channels, async (channelId) => {
        const channel = session.isEnded ? undefined : await this.channels.open(channelId);
        if (!session.isEnded && channel?.hasWelcomeFor(agentId)) session.welcomes.add(channel);
      });
      if (session.isEnded) return;
      this.pushWaiting(session);
      const after = page.channels.at(-1);
      if (!page.more || after === undefined) return;
      page = await this.deps.engine.listJoining({ agentId, limit, after });
    }
  }

  /** An entry is part of its channel; what it means for others than its readers. */
  #appended(channel: Channel, entry: Entry): void {
    this.touch(channel);
    if (entry.kind === "commit") {
      const { added, removed, welcomes, answers } = decodeCommitBody(entry);
      for (const agentId of [...removed, ...added]) channel.answered.delete(agentId);
      const requests = answers.flatMap((requestId) => this.joins.recall(requestId) ?? []);
      // A request is answered only when its agent is added, whatever the commit's sender says.
      this.#answer(channel, requests.filter(({ agentId }) => added.includes(agentId)));
      this.#welcome(channel, welcomes.flatMap(({ recipients }) => recipients));
    } else if (entry.kind === "welcome") {
      this.#welcome(channel, decodeWelcomeBody(entry).recipients);
    }
  }

  #answer(channel: Channel, requests: readonly PendingJoin[]): void {
    const here = requests.filter(({ channelId }) => channelId === channel.channelId);
    for (const { agentId, requestId } of here) {
      channel.answered.set(agentId, requestId);
      this.joins.remove(requestId);
    }
  }

  #welcome(channel: Channel, recipients: readonly AgentId[]): void {
    for (const agentId of recipients) {
      const session = this.#byAgent.get(agentId);
      if (session === undefined) continue;
      session.welcomes.add(channel);
      this.pushWaiting(session);
    }
  }
}
