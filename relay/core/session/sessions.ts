/**
 * The sessions of this relay: how they come, which agent has which, how they make room for others,
 * and how all of them go.
 */
import type {
  AccountId,
  AgentId,
  CallName,
  ClientEnvelope,
  NoticeBody,
  NoticeName,
  ReplyBody,
} from "../../../proto/mod.ts";
import type { BackgroundWork } from "../background.ts";
import type { PendingJoins } from "../channel/pending_joins.ts";
import type { CoreConfig } from "../config.ts";
import type { CoreDeps } from "../deps.ts";
import type { FairTurns } from "../limits/fair_turns.ts";
import type { CoreLimits } from "../limits/limits.ts";
import type { ClientLink, EndReason } from "../client_link.ts";
import type { Refusal } from "../refusal.ts";
import type { RelayLoad } from "../relay_load.ts";
import type { ConnectedAgent } from "./agent.ts";
import { longestRetryMs, SessionDrain, shortestRetryMs } from "./session_drain.ts";
import { pushJoins } from "./join_notices.ts";
import { MovingBack } from "./moving_back.ts";
import { Session, type SessionHost } from "./session.ts";
import { SessionPlaces } from "./session_places.ts";
import { pushWelcomes } from "./welcomes.ts";

/**
 * A session that had to make room comes back late, because there is none; up to twice as late, so
 * that not all come at once.
 */
const evictedRetryMs = 30_000;
/** The part of a core that a relay spends on agents that come back. */
const loginShare = 0.5;
const [shortestReturnMs, longestReturnMs] = [500, 120_000];
/** The log that relays share is silent: an election takes longer. */
const logWaitMs = 3_000;
const isSuspended: EndReason = {
  code: "account_suspended",
  message: "The account is suspended or deleted; ask the operator",
};
export const isReplaced: EndReason = {
  code: "session_replaced",
  message: "A newer session of this agent has taken its place",
};

export interface SessionsParts {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  readonly background: BackgroundWork;
  readonly limits: CoreLimits;
  readonly joins: PendingJoins;
}

/** Carries out what the sessions ask for. */
export interface RequestsPort {
  /** Rejects with `Refusal` for an expected no. */
  handle(session: Session, envelope: ClientEnvelope): Promise<ReplyBody<CallName>>;
  /** Tells an agent that has just come what waited for it. */
  greet(session: Session, agentId: AgentId): Promise<void>;
}

export class Sessions implements SessionHost {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  readonly turns: FairTurns;
  readonly #parts: SessionsParts;
  readonly #requests: RequestsPort;
  readonly #all = new Set<Session>();
  readonly #byAgent = new Map<AgentId, Session>();
  readonly #places: SessionPlaces;
  readonly #departure: SessionDrain;
  readonly #moving: MovingBack;
  /** Suspended or deleted. */
  readonly #suspended = new Set<AccountId>();
  /** Once the relay takes no more sessions: when all are gone. */
  #gone: PromiseWithResolvers<void> | undefined;

  constructor(parts: SessionsParts, requests: RequestsPort) {
    const { config, deps, limits } = parts;
    this.config = config;
    this.deps = deps;
    this.turns = limits.turns;
    this.#parts = parts;
    this.#requests = requests;
    this.#places = new SessionPlaces(config, limits.places);
    this.#departure = new SessionDrain(config.drainMs, deps.after);
    this.#moving = new MovingBack(this);
  }

  /** One that cannot be taken is ended through its link, with the reason. */
  open(link: ClientLink): Session {
    const { meter } = this.deps;
    const session = new Session(link, this);
    this.#all.add(session);
    if (this.#gone !== undefined) {
      session.end({
        code: "relay_draining",
        message: "The relay is going away",
        retryAfterMs: longestRetryMs,
      });
    } else if (this.#parts.limits.level >= 1) {
      meter.shed++;
      meter.sessionsRefused++;
      session.end({
        code: "overloaded",
        message: "The relay is busy; try again later",
        retryAfterMs: longestRetryMs,
      });
    }
    return session;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Agents that are connected here. */
  get agents(): AgentId[] {
    return [...this.#byAgent.keys()];
  }

  /** The session of an agent that is connected here. */
  of(agentId: AgentId): Session | undefined {
    return this.#byAgent.get(agentId);
  }

  /** Returns the sessions of agents, the oldest first. */
  withAgents(): Iterable<Session> {
    return this.#byAgent.values();
  }

  get countOfAgents(): number {
    return this.#byAgent.size;
  }

  /** The agent is connected, here or at another relay. */
  isOnline(agentId: AgentId): boolean {
    return this.#byAgent.has(agentId) || this.deps.cluster?.isOnline(agentId) === true;
  }

  /** New ones are welcome, with all that they bring. */
  get hasRoom(): boolean {
    const { level, storage } = this.#parts.limits;
    return this.#gone === undefined && level < 1 && storage.level === "ok";
  }

  /** Nothing keeps it from serving agents for long. */
  get isWell(): boolean {
    const waitingMs = this.deps.cluster?.waitingMs() ?? 0;
    return this.#gone === undefined && this.#parts.limits.level < 1 && waitingMs < logWaitMs;
  }

  /** Should this relay be lost, its agents are back within this time, each at a random moment. */
  get returnWithinMs(): number {
    const others = this.deps.cluster?.others().filter(({ hasRoom }) => hasRoom).length ?? 0;
    const ms = this.#byAgent.size * this.#parts.limits.logins.loginMs / loginShare;
    return Math.round(Math.min(longestReturnMs, Math.max(shortestReturnMs, ms / (others || 1))));
  }

  /** The load that other relays are told. */
  get load(): RelayLoad {
    return this.#moving.load;
  }

  /** To the agent's session, wherever it is; lost when it has none. */
  tell<Name extends NoticeName>(agentId: AgentId, operation: Name, body: NoticeBody<Name>): void {
    const session = this.#byAgent.get(agentId);
    if (session !== undefined) session.notify(operation, body);
    else if (this.isOnline(agentId)) this.deps.cluster?.tell(agentId, operation, body);
  }

  /** Whether an agent is a member of a channel; not asked while there is place for everybody. */
  async isMember(agentId: AgentId): Promise<boolean> {
    return !this.#places.isCrowded || await this.deps.engine.isListed(agentId);
  }

  /**
   * Makes a session that of its agent, in place of an older one; ends it when there is no room for
   * it.
   */
  adopt(session: Session, agent: ConnectedAgent, isMember: boolean): void {
    const { meter, log } = this.deps;
    const older = this.#byAgent.get(agent.agentId);
    const admitted = this.#places.admit(session, agent, { isMember, older });
    if ("refused" in admitted) {
      meter.sessionsRefused++;
      return session.end(admitted.refused);
    }
    older?.end(isReplaced);
    session.agent = agent;
    this.#byAgent.set(agent.agentId, session);
    if (admitted.evicted !== undefined) this.#evict(admitted.evicted);
    this.#moving.came(agent.agentId);
    session.authenticated(agent);
    this.learnToken(session, agent);
    log({ event: "session_open", agentId: agent.agentId, transport: session.link.transport });
  }

  /** The session lives as long as its token, which says too which plan its account has. */
  learnToken(session: Session, { account, plan, issuedAtMs, expiresAtMs }: ConnectedAgent): void {
    const { background, deps: { nowMs }, limits } = this.#parts;
    background.run("plan", () => limits.plans.learn(account, { plan, issuedAtMs }, nowMs()));
    session.expireAfter(Math.max(0, expiresAtMs - nowMs()), {
      code: "session_expired",
      message: "The token expired; renew it in time, or open a new session",
    });
  }

  suspend(account: AccountId): void {
    this.#suspended.add(account);
    for (const session of [...this.#byAgent.values()]) {
      if (session.agent?.account === account) session.end(isSuspended);
    }
  }

  resume(account: AccountId): void {
    this.#suspended.delete(account);
  }

  /** Why an account may not have sessions. */
  suspension(account: AccountId): EndReason | undefined {
    return this.#suspended.has(account) ? isSuspended : undefined;
  }

  /** Ends all sessions, not at once; new ones are for `open` to refuse. */
  sendAway(message: string): void {
    this.#departure.begin([...this.#all], message);
  }

  /** Takes no more, and resolves when all are gone. */
  async drain(): Promise<void> {
    const gone = this.#takeNoMore();
    this.sendAway("The relay is going away");
    await this.#allGone(gone);
  }

  /** The same without waiting for any. */
  async leave(): Promise<void> {
    const gone = this.#takeNoMore();
    this.#departure.finish([...this.#all], "The relay is going away");
    await this.#allGone(gone);
  }

  #takeNoMore(): PromiseWithResolvers<void> {
    this.#moving.stop();
    return this.#gone ??= Promise.withResolvers();
  }

  async #allGone({ promise, resolve }: PromiseWithResolvers<void>): Promise<void> {
    if (this.#all.size === 0) resolve();
    await promise;
  }

  handle(session: Session, envelope: ClientEnvelope): Promise<ReplyBody<CallName>> {
    return this.#requests.handle(session, envelope);
  }

  refuse({ agent }: Session, envelope: ClientEnvelope): Refusal | undefined {
    return this.#parts.limits.refuse(agent, envelope);
  }

  used(session: Session): void {
    this.#places.used(session);
    this.#moving.used(session);
  }

  ended(session: Session): void {
    this.#all.delete(session);
    const { agent } = session;
    if (agent !== undefined) {
      if (this.#byAgent.get(agent.agentId) === session) this.#byAgent.delete(agent.agentId);
      if (agent.session !== undefined) this.deps.cluster?.endSession(agent.agentId, agent.session);
      this.#places.leave(session);
    }
    if (this.#all.size === 0) this.#gone?.resolve();
  }

  sentElsewhere(session: Session): boolean {
    const { agent } = session;
    const { cluster, meter, nowMs } = this.deps;
    if (agent === undefined || cluster?.hasRoomElsewhere() !== true) return false;
    if (this.#parts.limits.rates.elsewhere.take(agent.agentId, nowMs()) !== undefined) return false;
    meter.storageRefusals++;
    const message = "The relay's disk is nearly full, and another relay has room";
    session.end({ code: "relay_draining", message, retryAfterMs: shortestRetryMs });
    return true;
  }

  greet(session: Session): void {
    const { agent } = session;
    if (agent === undefined || session.isEnded) return;
    this.#parts.background.run("greeting", () => this.#requests.greet(session, agent.agentId));
  }

  pushWaiting(session: Session): void {
    pushJoins(session, this.#parts.joins);
    pushWelcomes(session, this.#parts.background);
  }

  #evict(session: Session): void {
    this.deps.meter.sessionsEvicted++;
    const message =
      "Its account or the relay has no more places: this session's was given to another";
    const retryAfterMs = Math.ceil(evictedRetryMs * (1 + this.#parts.limits.places.random()));
    session.end({ code: "overloaded", message, retryAfterMs });
  }
}
